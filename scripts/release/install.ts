import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from './run.ts'
import type { Tarball } from './tarballs.ts'

/**
 * Installs the tarballs into an empty folder, imports each package there, and asks the command for its version.
 * @throws Error with the output of what failed.
 */
export async function tryInstall(tarballs: readonly Tarball[], version: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-release-'))
  try {
    writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n')
    const files = tarballs.map(({ file }) => file)
    await run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...files, 'react'], folder)
    const imports = tarballs.map(({ name }) => `await import(${JSON.stringify(name)})`).join('\n')
    await run(process.execPath, ['--input-type=module', '--eval', imports], folder)
    const program = join('node_modules', 'countersign', 'dist', 'main.js')
    const told = (await run(process.execPath, [program, '--version'], folder)).trim()
    if (told !== version) throw new Error(`the installed command says that it is ${told}, not ${version}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
