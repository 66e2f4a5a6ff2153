import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { createProgram } from './index.ts'

/** All commands that do something, which here do nothing, each with its words. */
async function commands(): Promise<{ words: string[]; command: Command; run(...args: string[]): Promise<unknown> }[]> {
  const program = await createProgram({})
  const below = (command: Command, words: string[]): { words: string[]; command: Command }[] => {
    command.exitOverride().configureOutput({ writeErr: () => {} })
    if (command.commands.length === 0) command.action(() => {})
    return command.commands.length === 0 ? [{ words, command }] : command.commands.flatMap((part) => below(part, [...words, part.name()]))
  }
  return below(program, []).map((one) => ({ ...one, run: (...args) => program.parseAsync([...one.words, ...args], { from: 'user' }) }))
}

test('no option of any command takes another option of it, or the end of the options, for its value', async () => {
  let tried = 0
  for (const { words, command, run } of await commands()) {
    const flags = command.options.flatMap(({ long, short }) => [long, short].filter((flag) => flag != null))
    for (const { flags: name, long, required, argChoices } of command.options) {
      // A choice refuses what is none.
      if (!required || !long || argChoices) continue
      for (const flag of [...flags, `${flags.at(-1)}=x`, '--help', '-h', '--']) {
        const refused = await run(long, flag).catch((error: Error) => error.message)
        const message = `error: option '${name}' cannot take ${flag.split('=')[0]}, itself an option, as its value`
        expect(refused, [...words, long, flag].join(' ')).toBe(message)
        tried++
      }
    }
  }
  expect(tried).toBeGreaterThan(500)
})

test('an option takes a text that only begins with a dash', async () => {
  const decline = (await commands()).find(({ words }) => words.join() === 'decline')
  for (const reason of ['-', '-1', '--no more of this', '-reason', '--forced']) {
    await decline?.run('act_1', '--reason', reason)
    expect(decline?.command.opts()).toMatchObject({ reason })
  }
})
