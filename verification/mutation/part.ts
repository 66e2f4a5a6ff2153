import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Part } from '../campaign/part.ts'
import { seededRandom } from '../simulation/random.ts'
import { copyRepository } from './copy.ts'
import { type MutantName, openNames } from './identify.ts'
import { type MutantResult, runStryker } from './stryker.ts'
import { compareWithAnswers, readAnswers } from './survivors.ts'
import { batchesOf, targetFiles } from './targets.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url)).replace(/\/$/, '')
const NOTICED = new Set(['Killed', 'Timeout'])
const SURVIVED = new Set(['Survived', 'NoCoverage'])

/**
 * Mutates the code that decides what may run (core, policy, gate, store) and runs its tests. The seed determines which files come first; no
 * batch begins after the time limit. A mutant that every test passes is a violation unless survivors.json gives the reason.
 */
export const mutationPart: Part = async ({ seed, minutes, files: glob, say }) => {
  installStryker(say)
  const untilMs = Date.now() + (minutes ?? 60) * 60_000
  const batches = shuffled(batchesOf(ROOT, shuffled(targetFiles(ROOT, glob), seed)), seed)
  const results: MutantResult[] = []
  const whole = new Set<string>()
  const missing: string[] = []
  for (const batch of batches) {
    if (Date.now() >= untilMs) break
    // A fresh one each time: Stryker puts the sources back when it ends, and not when it is stopped.
    using copy = copyRepository(ROOT)
    const ran = await runStryker({ path: copy.path, root: ROOT, batch, untilMs })
    results.push(...ran.results)
    if (ran.stopped === undefined) for (const file of batch.files) whole.add(file)
    if (ran.stopped === 'Stryker failed') missing.push(`Stryker failed in ${batch.folder}: ${ran.output.slice(-1_500)}`)
    const noticed = ran.results.filter(({ status }) => NOTICED.has(status)).length
    say(
      `mutation: ${batch.folder}: ${noticed} of ${ran.results.length} noticed${ran.stopped ? `, ${ran.stopped} (there are ${ran.planned ?? 'more'})` : ''}`,
    )
  }
  if (results.length === 0) missing.push('no mutant was tried')
  const named = compareWithAnswers(namesOf(results.filter(({ status }) => SURVIVED.has(status))), readAnswers(), whole)
  for (const { file, in: name, text } of named.stale) say(`mutation: note: nothing survives any more as ${file} ${name}: ${text}`)
  return {
    violations: named.unanswered.map(({ file, in: name, mutator, text, becomes }) => `${file} ${name} (${mutator}): ${text} → ${becomes}`),
    missing,
    figures: {
      ...countsOf(results),
      answered: named.answered.length,
      unanswered: named.unanswered,
      whole: [...whole].sort(),
      folders: byFolder(results),
    },
  }
}

function installStryker(say: (line: string) => void): void {
  const folder = join(ROOT, 'scripts', 'mutation')
  if (existsSync(join(folder, 'node_modules', '.package-lock.json'))) return
  say('mutation: installing Stryker (npm ci in scripts/mutation), half a minute')
  const { status, stderr } = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder, encoding: 'utf8' })
  if (status !== 0) throw new Error(`Stryker could not be installed in scripts/mutation: ${stderr}`)
}

function shuffled<T>(items: readonly T[], seed: number): T[] {
  const random = seededRandom(seed)
  return items
    .map((item) => ({ item, at: random.next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}

const namesOf = (results: readonly MutantResult[]): MutantName[] =>
  [...Map.groupBy(results, ({ file }) => file)].flatMap(([path, mutants]) => {
    const file = path.slice(path.search(/packages\//))
    return mutants.map(openNames(file, readFileSync(join(ROOT, file), 'utf8')))
  })

const countsOf = (results: readonly MutantResult[]) => {
  const count = (status: string) => results.filter((one) => one.status === status).length
  const [killed, timeouts, survived, uncovered] = ['Killed', 'Timeout', 'Survived', 'NoCoverage'].map(count)
  return { mutants: results.length, killed, timeouts, survived, uncovered }
}

const byFolder = (results: readonly MutantResult[]) =>
  Object.fromEntries(
    [...Map.groupBy(results, ({ file }) => dirname(file.slice(file.search(/packages\//))))]
      .sort()
      .map(([folder, some]) => [folder, countsOf(some)]),
  )
