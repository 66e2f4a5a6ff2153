import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { BOOTSTRAP_KEY } from '../testing/bootstrap-key.ts'
import { COMPILE_CACHE } from '../testing/compile-cache.ts'
import { temporaryFolder } from '../testing/test-server.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

test('the example of the gateway: reading runs at once, and the note is written when a person approved it', async () => {
  using folder = temporaryFolder()
  const notes = join(folder.path, 'notes')
  const child = spawn(process.execPath, ['examples/gateway/client.mjs', '--data', join(folder.path, 'data'), '--port', '0'], {
    cwd: ROOT,
    env: { ...COMPILE_CACHE, PATH: process.env.PATH, NOTES_FOLDER: notes, COUNTERSIGN_BOOTSTRAP_KEY: BOOTSTRAP_KEY },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'exit')
  const url = firstMatch(child.stderr, /calls at (http:\S+)/)
  const actionId = firstMatch(child.stdout, /Waiting for approval (act_\w+)/)
  const said = text(child.stdout)
  const response = await fetch(`${await url}/api/actions/${await actionId}/decision`, {
    method: 'POST',
    headers: { authorization: `Bearer ${BOOTSTRAP_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ verdict: 'approve' }),
  })
  expect(response.status).toBe(200)
  expect(await said).toMatch(/Reading runs at once: [\s\S]*9:30[\s\S]*Writing ended: [\s\S]*wrote team-calendar/)
  expect(await ended).toEqual([0, null])
  expect(readFileSync(join(notes, 'team-calendar.md'), 'utf8')).toContain('10:00')
})

/** Resolves with the first group of the first match in a stream. */
function firstMatch(stream: NodeJS.ReadableStream, pattern: RegExp): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  let said = ''
  stream.on('data', (chunk) => {
    said += chunk
    const found = pattern.exec(said)?.[1]
    if (found !== undefined) resolve(found)
  })
  stream.on('end', () => reject(new Error(`it said only: ${said}`)))
  return promise
}
