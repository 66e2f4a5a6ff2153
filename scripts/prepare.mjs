// Makes a checkout ready for `npm start`, `npm test`, `npm run check`, `npm run bench` and the rest, and says what it does.
// Runs before anything is installed, under whatever Node the machine has (18 or newer): built-in modules only.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const onWindows = process.platform === 'win32'
const nodePath = join(root, 'node_modules', '.bin', onWindows ? 'node.cmd' : 'node')
const chromiumPath = '/usr/bin/chromium'

const say = (sentence) => console.log(sentence)

const stop = (sentence) => {
  console.error(`\n${sentence}`)
  process.exit(1)
}

/** Runs a program quietly, with a sign of life every 10 seconds; its output is shown only when it fails. */
async function run(what, command, args, options = {}) {
  const startedAt = Date.now()
  const seconds = () => `${Math.round((Date.now() - startedAt) / 1000)} s`
  say(`${what} …`)
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], shell: onWindows, ...options })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  const ticking = setInterval(() => say(`  still working, ${seconds()}`), 10_000)
  const failure = await new Promise((resolve) => {
    child.on('error', (error) => resolve(error.message))
    child.on('close', (code, signal) => resolve(code === 0 ? undefined : `it ended with ${signal ?? `code ${code}`}`))
  })
  clearInterval(ticking)
  if (failure === undefined) return say(`  done in ${seconds()}`)
  if (output.trim() !== '') console.error(output.trim())
  stop(`${what} failed: ${failure}.`)
}

const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'))

/** True when npm's own note of what it installed in a folder agrees with the lockfile there, however it came to be installed. */
function isInstalled(folder) {
  const notePath = join(folder, 'node_modules', '.package-lock.json')
  if (!existsSync(notePath)) return false
  const wanted = readJson(join(folder, 'package-lock.json')).packages
  const found = readJson(notePath).packages
  const places = new Set([...Object.keys(wanted), ...Object.keys(found)].filter((place) => place.startsWith('node_modules/')))
  for (const place of places) {
    // What is optional is for other systems, and npm leaves it out here.
    if (found[place] === undefined && wanted[place].optional) continue
    if (found[place]?.version !== wanted[place]?.version || found[place]?.integrity !== wanted[place]?.integrity) return false
  }
  return true
}

// The Node inside node_modules must not run the install that replaces it.
const ci = (what, folder, flags = []) => {
  const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.endsWith(join('node_modules', '.bin')))
  return run(what, 'npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error', ...flags], {
    cwd: folder,
    env: { ...process.env, PATH: path.join(delimiter) },
  })
}

async function install() {
  if (!isInstalled(root) || !existsSync(nodePath)) await ci('Installing packages (npm ci), about a minute the first time', root)
  const version = spawnSync(nodePath, ['--version'], { encoding: 'utf8', shell: onWindows }).stdout?.trim() ?? ''
  if (!(Number(/^v(\d+)\./.exec(version)?.[1]) >= 24)) {
    stop(
      `node_modules/.bin/node is ${version === '' ? 'not runnable' : version}, but 24 or newer is needed. Delete node_modules and try again.`,
    )
  }
}

async function installCounterparts() {
  const folder = join(root, 'scripts', 'counterparts')
  if (isInstalled(folder)) return
  await ci('Installing the programs that tests talk with (npm ci in scripts/counterparts), half a minute', folder, ['--ignore-scripts'])
}

async function installCodingAgents() {
  const folder = join(root, 'scripts', 'coding-agents')
  if (isInstalled(folder)) return
  await ci('Installing the coding agents that tests drive (npm ci in scripts/coding-agents, 2.2 GB), two minutes', folder, [
    '--ignore-scripts',
  ])
}

async function installCopilotKit() {
  const folder = join(root, 'examples', 'copilotkit', 'app')
  if (isInstalled(folder)) return
  await ci('Installing CopilotKit for its example (npm ci in examples/copilotkit/app, 720 MB), some minutes', folder, ['--ignore-scripts'])
}

async function installAssistantUi() {
  const folder = join(root, 'examples', 'assistant-ui', 'app')
  if (isInstalled(folder)) return
  await ci('Installing assistant-ui for its example (npm ci in examples/assistant-ui/app, 77 MB), half a minute', folder, [
    '--ignore-scripts',
  ])
}

async function installDocs() {
  const folder = join(root, 'docs')
  if (isInstalled(folder)) return
  await ci('Installing what builds the documentation (npm ci in docs), a few seconds', folder, ['--ignore-scripts'])
}

function* files(folder) {
  if (statSync(folder).isFile()) return yield folder
  for (const entry of readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entry.name === 'node_modules' || entry.name === 'dist' || /\.test\.tsx?$/.test(entry.name)) continue
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* files(path)
    else yield path
  }
}

/** Runs `build` unless what it made last is there and was made from these sources. */
async function unlessBuilt(outDir, sources, build) {
  const hash = createHash('sha256').update(root)
  for (const path of [...sources, 'package-lock.json'].flatMap((source) => [...files(join(root, source))]))
    hash.update(relative(root, path)).update('\0').update(readFileSync(path))
  const wanted = hash.digest('hex')
  const stampPath = join(outDir, '.sources')
  if (existsSync(stampPath) && readFileSync(stampPath, 'utf8') === wanted) return
  await build()
  mkdirSync(outDir, { recursive: true })
  writeFileSync(stampPath, wanted)
}

function buildConsole() {
  const web = join(root, 'apps', 'web')
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js')
  return unlessBuilt(join(web, 'dist'), ['apps/web', 'packages/react', 'packages/client', 'packages/core'], () =>
    run('Building the console', nodePath, [vite, 'build', '--logLevel', 'warn'], { cwd: web }),
  )
}

function bundleServer() {
  const packages = readdirSync(join(root, 'packages')).filter((name) => !['client', 'react'].includes(name))
  const sources = [...packages.map((name) => `packages/${name}/src`), 'examples/shop/src', 'scripts/bundle.ts']
  return unlessBuilt(join(root, 'packages', 'server', 'bundle'), sources, () =>
    run('Bundling the server', nodePath, ['--disable-warning=ExperimentalWarning', join(root, 'scripts', 'bundle.ts')]),
  )
}

async function findChromium() {
  if (existsSync(chromiumPath)) return
  const isRoot = process.getuid?.() === 0
  const maySudo = !isRoot && spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0
  const hasApt = spawnSync('apt-get', ['--version'], { stdio: 'ignore' }).status === 0
  if (!hasApt || !(isRoot || maySudo)) {
    stop(
      `The browser tests need Chromium at ${chromiumPath} and cannot run without it. Install it (Debian: apt-get install chromium) and try again.`,
    )
  }
  const apt = (args) => (isRoot ? ['apt-get', args] : ['sudo', ['-n', 'apt-get', ...args]])
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  await run('Chromium is missing. Reading the package lists', ...apt(['update', '-q']), { env })
  await run('Installing Chromium for the browser tests (apt-get)', ...apt(['install', '-y', '-q', '--no-install-recommends', 'chromium']), {
    env,
  })
  if (!existsSync(chromiumPath)) stop(`Chromium was installed, but ${chromiumPath} is not there.`)
}

const needs = {
  start: [install, buildConsole],
  demo: [install, buildConsole, bundleServer],
  test: [install, installCounterparts, installDocs, buildConsole, bundleServer, findChromium],
  campaign: [install, installCounterparts, buildConsole],
  agents: [install, installCodingAgents],
  copilotkit: [install, installCopilotKit, buildConsole, findChromium],
  'assistant-ui': [install, installAssistantUi, buildConsole, findChromium],
  docs: [install, installDocs],
  check: [install],
  bench: [install, buildConsole, bundleServer, findChromium],
  peers: [install],
}
const task = process.argv[2] ?? ''
if (!Object.hasOwn(needs, task)) stop(`Usage: node scripts/prepare.mjs <${Object.keys(needs).join('|')}>`)
for (const step of needs[task]) await step()
