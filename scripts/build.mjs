// `npm run build`: makes what `npm pack` packs of each package. JavaScript with types and source maps in `dist`, the licence, and in the
// server's package the SQL of the migrations and the console.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ONE_CHECKER } from './compiler.ts'
import { PUBLISHED } from './packages.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

const startedAt = Date.now()
for (const name of PUBLISHED) {
  console.log(`Building packages/${name} …`)
  const folder = join(root, 'packages', name)
  rmSync(join(folder, 'dist'), { recursive: true, force: true })
  const { status } = spawnSync(join(root, 'node_modules', '.bin', 'tsc'), ['-p', join(folder, 'tsconfig.build.json'), ...ONE_CHECKER], {
    stdio: 'inherit',
  })
  if (status !== 0) {
    console.error(`packages/${name} has type errors.`)
    process.exit(1)
  }
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
}

const styles = join(root, 'packages', 'react', 'dist', 'card.css')
cpSync(join(root, 'packages', 'react', 'src', 'card.css'), styles)
// A compiler that checks imports without names needs a file of types, even an empty one.
writeFileSync(`${styles}.d.ts`, 'export {}\n')

const server = join(root, 'packages', 'server')
const migrations = join('store', 'migrations')
mkdirSync(join(server, 'dist', migrations), { recursive: true })
for (const file of readdirSync(join(server, 'src', migrations)).filter((one) => one.endsWith('.sql')))
  cpSync(join(server, 'src', migrations, file), join(server, 'dist', migrations, file))

rmSync(join(server, 'console'), { recursive: true, force: true })
cpSync(join(root, 'apps', 'web', 'dist'), join(server, 'console'), { recursive: true, filter: (path) => !path.endsWith('.sources') })
console.log(
  `Built in ${Math.round((Date.now() - startedAt) / 1_000)} s: packages/{${PUBLISHED.join(',')}}. npm pack -w countersign packs one.`,
)
