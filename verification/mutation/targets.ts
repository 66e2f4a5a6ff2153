import { globSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { isMore } from '../../scripts/tiers.ts'
import { FAILURES } from '../campaign/failures/failures.ts'

/** Folders where a bug could let an undecided action run, or lose a decision. */
const PLACES = ['packages/core/src', 'packages/server/src/policy', 'packages/server/src/gate', 'packages/server/src/store']

/** Tests of a whole server in this process that hold what unit tests leave to them, by the beginning of a path. */
const WHOLE_SERVER: Readonly<Record<string, readonly string[]>> = {
  'packages/server/src/policy/': ['policy', 'whose-words'],
  'packages/server/src/gate/execute/claim.ts': ['client', 'registered-tools'],
}

const wholeServerTests = (files: readonly string[]): string[] =>
  Object.entries(WHOLE_SERVER)
    .filter(([place]) => files.some((file) => file.startsWith(place)))
    .flatMap(([, names]) => names.map((name) => `verification/acceptance/${name}.test.ts`))

/** Files that are mutated together, and the tests that may notice. */
export interface Batch {
  folder: string
  files: string[]
  tests: string[]
}

const BATCH_FILES = 6

/** Every file that is mutated, below the repository. Migrations are SQL, an `index.ts` only hands on. */
export function targetFiles(root: string, glob: string | undefined): string[] {
  const wanted = glob === undefined ? undefined : new Set(globSync(glob, { cwd: root }))
  return PLACES.flatMap((place) => globSync(`${place}/**/*.ts`, { cwd: root }))
    .filter((file) => !/\.test\.ts$|\/testing\/|\/migrations\/|\/index\.ts$/.test(file))
    .filter((file) => wanted?.has(file) ?? true)
    .sort()
}

/** The files of one folder in batches, in the order in which they come. */
export function batchesOf(root: string, files: readonly string[]): Batch[] {
  const folders = Map.groupBy(files, dirname)
  return [...folders].flatMap(([folder, all]) => {
    const batches: Batch[] = []
    for (let i = 0; i < all.length; i += BATCH_FILES) {
      const some = all.slice(i, i + BATCH_FILES)
      batches.push({ folder, files: some, tests: testsFor(root, folder, some) })
    }
    return batches
  })
}

/** The unit tests of the part that the folder belongs to, and what the list of failures names for its files. */
function testsFor(root: string, folder: string, files: readonly string[]): string[] {
  const part = PLACES.find((place) => folder.startsWith(place)) ?? folder
  const isCore = part === 'packages/core/src'
  const units = globSync(`${part}/**/*.test.ts`, { cwd: root })
  const places = files.map((file) => file.replace(/^packages\/(?:server|core)\/src\//, ''))
  const named = FAILURES.filter(({ held }) => places.some((place) => held.includes(place) || held.includes(basename(place))))
    .flatMap(({ bugs }) => bugs.map(({ test }) => test.file))
    .filter((file) => /\.test\.ts$/.test(file) && !/\.browser(\.more)?\.test\.ts$/.test(file))
  const more = isCore ? [] : globSync('packages/core/src/{action,decision,policy}/*.test.ts', { cwd: root })
  return [...new Set([...units, ...named, ...more, ...wholeServerTests(files)])].filter((file) => !isMore(file)).sort()
}
