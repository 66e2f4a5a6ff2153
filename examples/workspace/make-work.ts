import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const NOTES = `# Orders

An order is recieved, packed and sent on the same day.
Whoever packs it writes their name on the slip.
`

/** A small repository to work in, with a typo to be found. One that is there already stays as it is. */
export function makeWork(folder: string = fileURLToPath(new URL('./work', import.meta.url))): string {
  if (existsSync(join(folder, '.git'))) return folder
  mkdirSync(join(folder, 'notes'), { recursive: true })
  writeFileSync(join(folder, 'notes/orders.md'), NOTES)
  writeFileSync(join(folder, 'README.md'), '# The shop\n\nHow we work is in `notes`.\n')
  const git = (...args: string[]) => execFileSync('git', ['-C', folder, ...args], { stdio: 'pipe' })
  git('init', '-q', '-b', 'main')
  git('add', '-A')
  git('-c', 'user.name=Ana', '-c', 'user.email=ana@example.com', 'commit', '-q', '-m', 'Begin')
  return folder
}
