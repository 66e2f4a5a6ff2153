// `npm run release`: everything of a release but the upload. It checks the checkout, builds, packs, looks into the tarballs, installs them,
// lets npm rehearse the upload, and prints the commands that publish. RELEASING.md says what to do before and after.
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { tryInstall } from './install.ts'
import { PACKAGES, problemsOfCheckout, readManifest, versionOf } from './ready.ts'
import { run } from './run.ts'
import { packAll, problemsOfTarball, type Tarball } from './tarballs.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

function stopFor(problems: readonly string[]): void {
  if (problems.length === 0) return
  for (const problem of problems) console.error(problem)
  process.exit(1)
}

function problemsOf(tarball: Tarball): string[] {
  const folder = PACKAGES.find(({ name }) => name === tarball.name)?.folder ?? ''
  return problemsOfTarball(tarball, readManifest(join(ROOT, 'packages', folder, 'package.json')))
}

const version = versionOf(ROOT)
stopFor(problemsOfCheckout(ROOT))
console.log(`Building ${version} …`)
await run('npm', ['run', '--silent', 'build'], ROOT)
const tarballs = await packAll(ROOT, join(ROOT, 'release'))
stopFor(tarballs.flatMap(problemsOf))
console.log('Installing the tarballs into an empty folder …')
await tryInstall(tarballs, version)
console.log('Rehearsing the upload (npm publish --dry-run) …')
for (const { file } of tarballs) await run('npm', ['publish', '--dry-run', '--access', 'public', file], ROOT)

console.log(`\nReady. Nothing was uploaded. In this order, each after the one before has ended:\n`)
for (const { file } of tarballs) console.log(`  npm publish --access public --provenance ./${relative(ROOT, file)}`)
console.log(`  git tag --annotate v${version} --message v${version}`)
console.log(`  git push origin v${version}`)
