import { existsSync, readFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { createRedactor, type Redactor, type SourceFinding } from '@countersign/toolkit'
import { Command } from 'commander'
import { HOOK_HOSTS, HOST_NAMES } from '../coding-agent/index.ts'
import {
  type Config,
  ConfigError,
  type Environment,
  loadConfig,
  readSettings,
  requireConfig,
  type Settings,
  secretsOf,
} from '../config/index.ts'
import { type DatabaseLook, lookAtDatabase } from '../store/index.ts'
import { type ApiFlags, withServerAddress } from './api.ts'
import { isConnected, tryCanary } from './connect/canary.ts'
import { HOST_SETTINGS } from './connect/settings.ts'
import { type Check, type Finding, note, ok, problem, runChecks } from './doctor/check.ts'
import { findOpenFiles } from './doctor/open-files.ts'
import { findPolicyDoubts, type PolicyRow, policyTable, policyToReport } from './doctor/policy.ts'
import { modelChecks, routeChecks } from './doctor/reach.ts'
import { findSecrets } from './doctor/secrets.ts'
import { webhookCheck } from './doctor/webhooks.ts'
import type { JsonOutput } from './json-output.ts'
import { type DataFlags, withDataFlags } from './options.ts'
import { type Out, say, sayJson } from './say.ts'

export interface DoctorFlags extends ApiFlags, DataFlags {
  config?: string
  models?: true
  timeout: string
}

const HELP = `
It reads and changes nothing: no route or tool that writes is called, no database is made or migrated, and no secret is shown.
Servers may run meanwhile.

Exit code: 0 when nothing is wrong, 1 when something is. Notes are for thought and change nothing about that.`

/** `countersign doctor`: reports whether the configuration works here, and what would need approval. */
export const doctorCommand = (environment: Environment): Command =>
  withDataFlags(
    withServerAddress(new Command('doctor'))
      .description('check configuration, database, sources, policy and webhooks, and report what would need approval')
      .option('--config <file>', 'configuration (COUNTERSIGN_CONFIG, default countersign.config.ts or countersign.yaml here)'),
  )
    .option('--models', 'ask every model one short question, which may cost something')
    .option('--timeout <seconds>', 'how long each check may take', '10')
    .option('--json', 'print one JSON object: {problems, findings, policy}')
    .addHelpText('after', HELP)
    .action(async (flags: DoctorFlags) => {
      if ((await doctor(flags, environment)) > 0) process.exitCode = 1
    })

/** The parts that could be opened. */
interface Opened {
  settings: Settings | undefined
  config: Config | undefined
  file: string | undefined
  findings: Finding[]
}

/**
 * Checks everything that is configured, and reports the findings.
 * @param out Receives the report. Default: standard output.
 * @returns The number of problems.
 */
export async function doctor(flags: DoctorFlags, environment: Environment, out: Out = process.stdout): Promise<number> {
  if (!/^\d{1,4}$/.test(flags.timeout) || Number(flags.timeout) === 0)
    throw new Error(`--timeout: must be a number of seconds, not "${flags.timeout}"`)
  const opened = await open(flags, environment)
  const { settings, config, file } = opened
  const redactor = createRedactor(
    settings ? secretsOf(settings, config ?? { secrets: [], signIn: undefined }) : [...(config?.secrets ?? [])],
  )
  const clean = (text: string) => redactor.text(text.replace(/\s*\n\s*/g, ' '))
  const early = opened.findings.map((finding) => ({ ...finding, message: clean(finding.message) }))
  const tell = (findings: readonly Finding[]) => {
    if (!flags.json) for (const finding of findings) say(lineOf(finding), out)
  }
  try {
    tell(early)
    let database: DatabaseLook | undefined
    const checks: Check[] = [
      // A file that is not there was reported with the configuration.
      ...(file === undefined || !existsSync(file)
        ? []
        : [{ name: `secrets in ${basename(file)}`, run: () => orFine(findSecrets(readFileSync(file, 'utf8')), 'none in plain text') }]),
      ...(config
        ? [{ name: 'configuration files', run: () => orFine(findOpenFiles(config.files), 'other users cannot change them') }]
        : []),
      ...(settings
        ? [
            {
              name: 'database',
              async run(signal: AbortSignal) {
                database = await lookAtDatabase(settings.database, signal)
                return databaseFindings(settings, database)
              },
            },
          ]
        : []),
      ...hookChecks(environment),
      webhookCheck(flags, environment),
      ...(config && settings ? sourceChecks(config, redactor) : []),
      ...(config ? routeChecks(config) : []),
      ...(config && settings
        ? modelChecks(config.agents, { ...settings.models, scriptDirectory: config.folder, network: config.network }, flags.models === true)
        : []),
    ]
    const found = await runChecks(checks, {
      timeoutMs: Number(flags.timeout) * 1_000,
      onDone: tell,
      clean,
    })
    const reported = config && policyToReport(config.policy, database?.policy)
    const world = config && reported && { agents: config.agents, tools: config.tools, policy: reported.policy }
    const doubts = world ? named('policy', [...reported.notes, ...(await findPolicyDoubts(world, rolesOf(database)))]) : []
    tell(doubts)
    const policy = world ? policyTable(world) : []
    const findings = [...early, ...found, ...doubts]
    const problems = findings.filter(({ level }) => level === 'problem').length
    if (flags.json) sayJson({ problems, findings, policy } satisfies JsonOutput<'doctor'>, out)
    else for (const line of summary(policy, problems)) say(line, out)
    return problems
  } finally {
    await config?.close()
  }
}

async function open(flags: DoctorFlags, environment: Environment): Promise<Opened> {
  const findings: Finding[] = []
  const attempt = async <T>(check: string, work: () => T | Promise<T>): Promise<T | undefined> => {
    try {
      return await work()
    } catch (error) {
      findings.push(...named(check, problemsOf(error)))
      return undefined
    }
  }
  const settings = await attempt('settings', () => readSettings(flags, environment))
  const file = await attempt('configuration', () => flags.config ?? settings?.configFile ?? requireConfig(resolve('.')))
  const config = file === undefined ? undefined : await attempt('configuration', () => loadConfig(file, environment))
  if (config) {
    const count = config.tools.all().length
    findings.push(...named('configuration', [ok(`${file}: ${counted(config.agents.length, 'agent')}, ${counted(count, 'tool')}`)]))
  }
  return { settings, config, file, findings }
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`

const named = (check: string, findings: readonly SourceFinding[]): Finding[] => findings.map((finding) => ({ check, ...finding }))

function problemsOf(error: unknown): SourceFinding[] {
  if (!(error instanceof ConfigError)) return [problem(error instanceof Error ? error.message : String(error))]
  return error.sentences.map((sentence) => problem(sentence))
}

const orFine = (findings: SourceFinding[], fine: string): SourceFinding[] => (findings.length === 0 ? [ok(fine)] : findings)

const sourceChecks = (config: Config, redactor: Redactor): Check[] =>
  [...config.sources].map(([group, source]) => ({
    name: `${group} (${source.kind})`,
    run: (signal) => source.check({ network: config.network, redactor }, signal),
  }))

/** Sends the canary through the hooks of every connected coding agent. It is refused and stored nowhere. */
const hookChecks = (environment: Environment): Check[] =>
  HOOK_HOSTS.flatMap((host) => {
    const files = [false, true].map((inProject) => HOST_SETTINGS[host].file(environment, inProject))
    const connected = [...new Set(files)].filter((file) => isConnected(host, file))
    return connected.map((file) => ({
      name: `hooks of ${HOST_NAMES[host]}`,
      async run() {
        const fault = await tryCanary(host, file, environment)
        return [fault === undefined ? ok(`the canary call was refused (${file})`) : problem(`${fault} (${file})`)]
      },
    }))
  })

const LITTLE_BYTES = 1_000_000_000
const TOO_LITTLE_BYTES = 100_000_000

function databaseFindings({ database, dataDir }: Settings, { isThere, pending, freeBytes }: DatabaseLook): SourceFinding[] {
  const where = database.kind === 'sqlite' ? dataDir : 'Postgres'
  const findings = [
    !isThere
      ? note(`${where} has no data yet; it is made at the first start`)
      : pending.length > 0
        ? note(`${where} is of an older version: the next start makes ${pending.length} migrations (${pending.join(', ')})`)
        : ok(`${where} can be read and is of this version`),
  ]
  if (freeBytes !== undefined && freeBytes < LITTLE_BYTES) {
    const words = `${Math.round(freeBytes / 1_000_000)} MB are free on the disk of ${where}`
    findings.push(freeBytes < TOO_LITTLE_BYTES ? problem(words) : note(words))
  }
  return findings
}

function rolesOf(database: DatabaseLook | undefined): ReadonlySet<string> | undefined {
  if (!database?.roles) return undefined
  return new Set(database.roles.flatMap((text): string[] => JSON.parse(text)))
}

const MARKS = { ok: 'ok     ', note: 'note   ', problem: 'PROBLEM' }

const lineOf = ({ level, check, message }: Finding): string => `${MARKS[level]}  ${check}: ${message}`

function* summary(rows: readonly PolicyRow[], problems: number): Generator<string> {
  if (rows.length > 0) {
    yield ''
    yield 'What policy says of each tool:'
    const width = Math.max(...rows.map(({ tool, agent }) => tool.length + (agent === undefined ? 0 : agent.length + 6)))
    for (const { tool, agent, effect, would, risk, rule, unless } of rows) {
      const name = agent === undefined ? tool : `${tool} (for ${agent})`
      const high = risk === undefined ? '' : `, ${risk} risk`
      const more = unless.length === 0 ? '' : `; otherwise where ${unless.map((name) => `"${name}"`).join(' or ')} says so`
      yield `  ${name.padEnd(width)}  ${effect.padEnd(5)}  ${would}${high}  ("${rule}"${more})`
    }
    yield ''
  }
  yield problems === 0 ? 'Nothing is wrong.' : problems === 1 ? 'One problem.' : `${problems} problems.`
}
