import { resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import type { JsonOutput } from '../json-output.ts'
import { say, sayJson } from '../say.ts'
import { nextSteps } from './next-steps.ts'
import { filesInTheWay, type StarterKind, starterFiles } from './starter.ts'
import { writeStarter } from './write.ts'

interface InitFlags {
  typescript?: true
  yes?: true
  json?: true
}

const HELP = `
It writes a configuration, a policy, an example tool with a script in place of a model, and lines in .gitignore. What it writes runs as it
is, without a key. It overwrites nothing: if one of the files exists, it writes none.

At a terminal it asks whether the configuration is to be in TypeScript. It asks nothing when it is piped, with --yes, --json or
--typescript.

Exit code: 0 when everything is written, 1 when nothing is.`

/** `countersign init`: writes a project to start from. */
export const initCommand = (): Command =>
  new Command('init')
    .description('write a configuration, a policy and an example tool to start from')
    .argument('[folder]', 'where to write; made if it is missing', '.')
    .option('--typescript', 'write countersign.config.ts, with tools in code, instead of countersign.yaml')
    .option('--yes', 'ask nothing')
    .option('--json', 'print one JSON object, {folder, files, next}, and ask nothing')
    .addHelpText('after', HELP)
    .action(async (given: string, flags: InitFlags) => {
      const folder = resolve(given)
      const kind = await chooseKind(flags)
      const files = starterFiles(kind, folder)
      refuseToOverwrite(filesInTheWay(files, folder), folder)
      try {
        writeStarter(files, folder)
      } catch (cause) {
        const { path = folder, code } = cause as NodeJS.ErrnoException
        const advice = code === 'ENOSPC' ? 'The disk is full' : 'Choose a folder that you may write to: countersign init <folder>'
        throw new Error(`cannot write to ${path} (${code}). ${advice}. Nothing was written.`, { cause })
      }
      const written = [...files, { path: '.gitignore', about: 'keeps the data folder and .env out of git' }]
      const next = nextSteps(kind, { folder, workingFolder: resolve('.'), program: fileURLToPath(import.meta.url) })
      if (flags.json) {
        const listed = written.map(({ path, about }) => ({ path, about }))
        return void sayJson({ folder, files: listed, next } satisfies JsonOutput<'init'>)
      }
      say(`Written to ${folder}:`)
      for (const { path, about } of written) say(`  ${path.padEnd(22)} ${about}`)
      say('')
      say('Next:')
      for (const step of next) say(`  ${step}`)
      say('')
      say('Sign in with the link that serve prints, and write: Move the stand-up')
    })

async function chooseKind({ typescript, yes, json }: InitFlags): Promise<StarterKind> {
  if (typescript) return 'typescript'
  if (yes || json || !process.stdin.isTTY || !process.stdout.isTTY) return 'yaml'
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    const answer = await terminal.question('Write the configuration in TypeScript? [y/N] ')
    return /^y(es)?$/i.test(answer.trim()) ? 'typescript' : 'yaml'
  } finally {
    terminal.close()
  }
}

function refuseToOverwrite(existing: readonly string[], folder: string): void {
  if (existing.length === 0) return
  const exist = existing.length === 1 ? 'exists' : 'exist'
  throw new Error(
    `${existing.join(', ')} ${exist} in ${folder} already. Move them away, or choose another folder: countersign init <folder>. Nothing was written.`,
  )
}
