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

const BATCH_FILES = 12

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
  const units = globSync(`${part}/**/*.test.ts`, { cwd: root })
  const places = files.map((file) => file.replace(/^packages\/(?:server|core)\/src\//, ''))
  const named = FAILURES.filter(({ held }) => places.some((place) => held.includes(place) || held.includes(basename(place))))
    .flatMap(({ bugs }) => bugs.map(({ test }) => test.file))
    .filter((file) => /\.test\.ts$/.test(file) && !/\.browser(\.more)?\.test\.ts$/.test(file))
  const all = [...new Set([...units, ...named, ...wholeServerTests(files)])].filter((file) => !isMore(file))
  return likeliestFirst(all, folder, files)
}

/** The tests beside a file, by name, notice most and cost least; a whole server is slow to start and comes last. */
function likeliestFirst(tests: readonly string[], folder: string, files: readonly string[]): string[] {
  const own = new Set(files.map((file) => file.replace(/\.ts$/, '.test.ts')))
  const rank = (test: string): number => {
    if (test.startsWith('verification/')) return 3
    if (own.has(test)) return 0
    return dirname(test) === folder ? 1 : 2
  }
  return tests.toSorted((a, b) => rank(a) - rank(b) || a.localeCompare(b))
}
