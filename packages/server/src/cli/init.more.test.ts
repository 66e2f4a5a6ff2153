import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { startChildServer } from '../../../../verification/testing/child-server.ts'
import { runCommandLine } from '../../../../verification/testing/run-command.ts'
import { mountSmallDisk } from '../../../../verification/testing/small-disk.ts'
import { approveFirstProposal } from '../../../../verification/testing/starter-talk.ts'
import { temporaryFolder } from '../../../../verification/testing/test-server.ts'

const MAIN = fileURLToPath(new URL('../main.js', import.meta.url))
const PATH = process.env.PATH ?? ''
/** In seconds, for each check of the doctor: as long as a busy machine may take. */
const PATIENT = '240'

/** Returns every file below a folder with its bytes. */
const contentOf = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path.slice(folder.length + 1), readFileSync(path, 'utf8')]),
  )

const YAML_FILES = ['.gitignore', 'countersign.yaml', 'example/model.mjs', 'notes/meetings.md', 'policy.yaml']

test('what init writes runs as it is: a message leads to a card, and the approved edit is on the disk', async () => {
  using folder = temporaryFolder()
  const project = join(folder.path, 'new', 'project')
  const { code, stdout, stderr } = await runCommandLine(['init', project], { PATH })
  expect([code, stderr]).toEqual([0, ''])
  expect(Object.keys(contentOf(project)).sort()).toEqual(YAML_FILES)
  for (const name of YAML_FILES) expect(stdout).toContain(name)
  expect(stdout).toContain(`serve --config ${join(project, 'countersign.yaml')}`)
  const doctor = ['doctor', '--timeout', PATIENT, '--config', join(project, 'countersign.yaml')]
  expect(await runCommandLine(doctor, { PATH })).toMatchObject({ code: 0 })

  await using server = await startChildServer({ configFile: join(project, 'countersign.yaml'), dataDir: join(project, '.countersign') })
  const note = join(project, 'notes', 'meetings.md')
  expect(readFileSync(note, 'utf8')).toContain('Stand-up: every day at 09:30')
  const proposed = await approveFirstProposal(server.admin)
  expect(proposed.tool).toBe('notes.editFile')
  expect(proposed.preview).toContain('+Stand-up: every day at 10:00')
  expect(readFileSync(note, 'utf8')).toContain('Stand-up: every day at 10:00')
})

test('init overwrites nothing: it names what is there, and changes nothing', async () => {
  using folder = temporaryFolder()
  await runCommandLine(['init', folder.path], { PATH })
  writeFileSync(join(folder.path, 'policy.yaml'), 'default: deny\n')
  const before = contentOf(folder.path)
  const again = await runCommandLine(['init', folder.path, '--yes'], { PATH })
  expect(again.code).toBe(1)
  expect(again.stdout).toBe('')
  expect(again.stderr).toMatch(/^countersign: countersign\.yaml, .*policy\.yaml.* exist in .* already\. .*Nothing was written\.\n$/)
  expect(contentOf(folder.path)).toEqual(before)

  // One existing file is enough, including a configuration of the other kind: serve refuses two.
  using other = temporaryFolder()
  writeFileSync(join(other.path, 'countersign.json'), '{}')
  expect((await runCommandLine(['init', other.path], { PATH })).stderr).toContain('countersign.json exists in')
  expect(readdirSync(other.path)).toEqual(['countersign.json'])
})

test('init adds what is missing to a .gitignore, and leaves what stands there', async () => {
  using folder = temporaryFolder()
  writeFileSync(join(folder.path, '.gitignore'), 'node_modules/\n.env')
  expect(await runCommandLine(['init', folder.path], { PATH })).toMatchObject({ code: 0 })
  expect(readFileSync(join(folder.path, '.gitignore'), 'utf8')).toBe('node_modules/\n.env\n.countersign/\n')
})

test('init says in one sentence that it cannot write, and leaves nothing behind', async () => {
  using disk = mountSmallDisk(1_000_000)
  using plain = temporaryFolder()
  if (disk) disk.makeReadOnly()
  else chmodSync(plain.path, 0o555)
  const folder = disk?.path ?? plain.path
  const { code, stdout, stderr } = await runCommandLine(['init', folder], { PATH })
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(
    /^countersign: cannot write to .+ \((EROFS|EACCES)\)\. Choose a folder that you may write to: countersign init <folder>\. Nothing was written\.\n$/,
  )
  expect(readdirSync(folder)).toEqual([])

  // A disk that fills up in the middle, and a file in the place of a folder.
  writeFileSync(join(plain.path, 'file'), '')
  const inFile = await runCommandLine(['init', join(plain.path, 'file')], { PATH })
  expect([inFile.code, inFile.stderr]).toEqual([
    1,
    expect.stringMatching(/^countersign: cannot write to \S+ \((ENOTDIR|EEXIST)\)\. [^\n]*\n$/),
  ])
  mkdirSync(join(plain.path, 'half'))
  writeFileSync(join(plain.path, 'half', 'notes'), 'a file where init makes a folder')
  const half = await runCommandLine(['init', join(plain.path, 'half')], { PATH })
  expect(half.code).toBe(1)
  expect(readdirSync(join(plain.path, 'half'))).toEqual(['notes'])
})

test('init writes all or nothing, wherever the disk fills up', async () => {
  using disk = mountSmallDisk(1_000_000)
  if (!disk) return
  writeFileSync(join(disk.path, '.gitignore'), 'node_modules/\n')
  const content = () => Object.entries(contentOf(disk.path)).filter(([name]) => name !== 'ballast')
  const before = content()
  for (let pages = 0; ; pages++) {
    disk.leave(pages * 4_096)
    const { code, stderr } = await runCommandLine(['init', disk.path], { PATH })
    if (code === 0) {
      expect(pages).toBeGreaterThan(YAML_FILES.length - 2)
      break
    }
    expect(stderr).toMatch(/^countersign: cannot write to \S+ \(ENOSPC\)\. The disk is full\. Nothing was written\.\n$/)
    expect(content()).toEqual(before)
  }
})

/** Returns the command's output at a terminal where the given answers are typed. */
async function atTerminal(args: readonly string[], answer: string): Promise<string> {
  const command = [process.execPath, '--conditions=countersign-source', '--disable-warning=ExperimentalWarning', MAIN, ...args]
  const child = spawn('script', ['--quiet', '--return', '--command', command.join(' '), '/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close')
  child.stdin.write(answer)
  const written = await text(child.stdout)
  await ended
  return written
}

test('at a terminal init asks one question, which --yes and --typescript answer', async () => {
  using folder = temporaryFolder()
  const at = (name: string) => join(folder.path, name)
  expect(await atTerminal(['init', at('asked')], 'y\n')).toContain('Write the configuration in TypeScript? [y/N]')
  expect(existsSync(at('asked/countersign.config.ts'))).toBe(true)
  expect(await atTerminal(['init', at('default')], '\n')).toContain('[y/N]')
  expect(existsSync(at('default/countersign.yaml'))).toBe(true)
  expect(await atTerminal(['init', at('yes'), '--yes'], '')).not.toContain('[y/N]')
  expect(existsSync(at('yes/countersign.yaml'))).toBe(true)
  expect(await atTerminal(['init', at('typed'), '--typescript'], '')).not.toContain('[y/N]')
  expect(existsSync(at('typed/countersign.config.ts'))).toBe(true)
})

test('a configuration in TypeScript needs packages: in a checkout the printed steps link them, and the doctor finds nothing wrong', async () => {
  using folder = temporaryFolder()
  const project = join(folder.path, 'an empty folder')
  const stepsFor = async (at: string): Promise<string[]> => {
    const { stdout } = await runCommandLine(['init', at, '--typescript', '--json'], { PATH })
    return JSON.parse(stdout).next
  }
  const [link = '', doctor, serve, ...others] = await stepsFor(project)
  expect(Object.keys(contentOf(project)).sort()).toEqual([
    '.gitignore',
    'countersign.config.ts',
    'example/meetings.json',
    'example/model.ts',
    'package.json',
    'policy.yaml',
  ])
  expect(JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'))).toEqual({ private: true, type: 'module' })
  // The packages are on no registry, and npm knows its scripts in the checkout only.
  expect([doctor, serve, others]).toEqual([
    expect.stringMatching(/^npm run countersign -- doctor --config '.*countersign\.config\.ts' --data /),
    expect.stringMatching(/^npm run countersign -- serve --config '.*countersign\.config\.ts' --data /),
    [],
  ])
  const config = ['--timeout', PATIENT, '--config', join(project, 'countersign.config.ts'), '--data', join(project, '.countersign')]
  expect(await runCommandLine(['doctor', ...config], { PATH })).toMatchObject({ code: 1 })
  execFileSync('sh', ['-c', link])
  expect(await runCommandLine(['doctor', ...config], { PATH })).toMatchObject({ code: 0 })

  const old = join(folder.path, 'commonjs')
  mkdirSync(old)
  writeFileSync(join(old, 'package.json'), '{ "type": "commonjs" }')
  expect(await stepsFor(old)).toContain(`npm pkg set type=module --prefix ${old}`)
  expect(readFileSync(join(old, 'package.json'), 'utf8')).toBe('{ "type": "commonjs" }')
})

test.each([
  ['import', "import { x } from './x.ts'\nexport default x\n"],
  ['export', 'export default {}\n'],
])('a configuration with %s in a CommonJS package says how to make the package one of modules', async (_word, code) => {
  using folder = temporaryFolder()
  const file = join(folder.path, 'countersign.config.ts')
  for (const [name, content] of [
    ['package.json', '{ "type": "commonjs" }'],
    ['x.ts', 'export const x = {}\n'],
    ['countersign.config.ts', code],
  ])
    writeFileSync(join(folder.path, `${name}`), `${content}`)
  const { stdout, code: exitCode } = await runCommandLine(['doctor', '--config', file, '--data', join(folder.path, 'data')], { PATH })
  expect(stdout).toContain('cannot be loaded as CommonJS: run npm pkg set type=module in the folder of its package.json')
  expect(exitCode).toBe(1)
})
