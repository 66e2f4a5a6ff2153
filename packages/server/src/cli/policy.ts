import { existsSync, readFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import {
  isCountersignError,
  type JsonObject,
  type PolicyDocument,
  type Principal,
  parseJson,
  TestedCall,
  TestPolicyBody,
} from '@countersign/core'
import { Command, Option } from 'commander'
import { type Config, decodeUtf8, type Environment, loadConfig, requireConfig } from '../config/index.ts'
import { type CompiledPolicy, compilePolicy, notesAbout, type PolicyCall, readPolicy } from '../policy/index.ts'
import { type ApiFlags, withServerFlag } from './api.ts'
import type { JsonOutput } from './json-output.ts'
import { replay } from './policy-replay.ts'
import { starterCommand } from './policy-starter.ts'
import { say, sayJson } from './say.ts'

interface CheckFlags {
  config?: string
  json?: true
}

interface TestFlags extends ApiFlags {
  policy?: string
  call?: string
  replay?: string
  config?: string
  expect?: 'allow' | 'ask' | 'deny'
}

const TEST_HELP = `
--call takes JSON, or a file of it: {"tool": "refund", "arguments": {"amount": 700}, "agent": "desk",
"requester": {"kind": "person", "roles": ["sales"]}}. Nothing is sent to the tool, and no server is needed.

--replay asks a running server what would have been asked, allowed and denied of the actions of that time, with the policy
of --policy or the one in force. The key is that of a person: COUNTERSIGN_KEY in the environment, or a file that holds it.
A server on another machine needs https.

Exit code: 0 when policy could be asked and, with --expect, said that (in a replay: nothing would be allowed now that was
asked or denied then); 1 when not, or when the policy cannot be used.`

/** `countersign policy`: checks and tests policies before they are in force. */
export const policyCommand = (environment: Environment): Command =>
  new Command('policy')
    .description('check a policy, and ask what it would say')
    .addCommand(
      new Command('check')
        .description('check whether a policy can be used with the tools and agents of the configuration')
        .argument('<file>', 'the policy, in YAML or JSON')
        .option('--config <file>', 'configuration (COUNTERSIGN_CONFIG, default countersign.config.ts or countersign.yaml here)')
        .option('--json', 'print one JSON object: {file, problems, rules, default, warnings}')
        .addHelpText('after', '\nExit code: 0 when it can be used, otherwise 1; each problem is printed with its place.')
        .action((file: string, flags: CheckFlags) => check(file, flags, environment)),
    )
    .addCommand(
      withServerFlag(new Command('test'))
        .description('evaluate the policy for a call, or for the calls of the last days')
        .option('--policy <file>', 'a policy in YAML or JSON (default: that of the configuration; with --replay the one in force)')
        .option('--call <json|file>', 'the call')
        .option('--replay <time>', 'the actions of that time: 7d, 12h or an ISO 8601 duration')
        .option('--config <file>', 'configuration (COUNTERSIGN_CONFIG, default countersign.config.ts or countersign.yaml here)')
        .addOption(new Option('--expect <verdict>', 'fail unless this is what policy says').choices(['allow', 'ask', 'deny']))
        .option('--json', 'print one JSON object: {items}, with --replay {since, evaluated, changes, …}')
        .addHelpText('after', TEST_HELP)
        .action((flags: TestFlags) => test(flags, environment)),
    )
    .addCommand(starterCommand(environment))

/** @param ignoresPolicy Another policy is asked about: that of the configuration need not be usable. */
async function openConfig(file: string | undefined, environment: Environment, ignoresPolicy: boolean): Promise<Config> {
  const found = file ?? environment.COUNTERSIGN_CONFIG ?? (await requireConfig(resolve('.')))
  const config = await loadConfig(found, environment, { ignoresPolicy })
  // Only the names and input schemas of its tools are needed.
  await config.close()
  return config
}

const readDocument = (text: string, { tools, agents }: Config): PolicyDocument =>
  readPolicy(text, { tools, agents: agents.map(({ name }) => name) })

function readPolicyFile(file: string, config: Config): PolicyDocument {
  const text = readText(file)
  try {
    return readDocument(text, config)
  } catch (cause) {
    throw new Error(`${basename(file)}: ${cause instanceof Error ? cause.message : cause}`, { cause })
  }
}

function readText(file: string): string {
  try {
    return decodeUtf8(readFileSync(file))
  } catch (cause) {
    if (!(cause instanceof Error)) throw cause
    throw new Error(`${file}: ${'code' in cause ? `cannot be read (${cause.code})` : cause.message}`, { cause })
  }
}

async function check(file: string, { config: configFile, json }: CheckFlags, environment: Environment): Promise<void> {
  const config = await openConfig(configFile, environment, true)
  if (json) {
    const checked = await checkedFile(file, config)
    if (checked.problems.length > 0) process.exitCode = 1
    return void sayJson(checked)
  }
  const document = readPolicyFile(file, config)
  say(`${file}: ${document.rules.length} ${document.rules.length === 1 ? 'rule' : 'rules'}, ${document.default} for everything else.`)
  for (const text of await notesAbout(document, knownOf(config))) say(`Note: the rule ${text}.`)
}

/** Roles are in the database, which is not asked here. */
const knownOf = ({ tools }: Config) => ({ roles: undefined, tools: tools.all() })

async function checkedFile(file: string, config: Config): Promise<JsonOutput<'policy check'>> {
  const text = readText(file)
  try {
    const document = readDocument(text, config)
    const warnings = await notesAbout(document, knownOf(config))
    return { file, problems: [], rules: document.rules.length, default: document.default, warnings }
  } catch (error) {
    if (!isCountersignError(error)) throw error
    const { issues } = error.extra as { issues: JsonOutput<'policy check'>['problems'] }
    return { file, problems: issues, rules: null, default: null, warnings: [] }
  }
}

async function test(flags: TestFlags, environment: Environment): Promise<void> {
  if ((flags.call === undefined) === (flags.replay === undefined)) throw new Error('name a call with --call, or a time with --replay')
  const isMet =
    flags.call === undefined
      ? await replay({ ...flags, document: flags.policy === undefined ? undefined : readText(flags.policy) }, environment)
      : await ask(flags, flags.call, environment)
  if (!isMet) process.exitCode = 1
}

async function ask(flags: TestFlags, given: string, environment: Environment): Promise<boolean> {
  const { policy: file, config: configFile, expect, json } = flags
  const config = await openConfig(configFile, environment, file !== undefined)
  const policy = compilePolicy(file === undefined ? config.policy : readPolicyFile(file, config), 0)
  const call = readCall(given, config)
  const { verdict, rule, reason, requires, risk } = policy.evaluate(call)
  const isMet = expect === undefined || expect === verdict
  if (json) {
    const tested = TestedCall.parse({ verdict, rule, reason, version: null, requires, risk: risk ?? null, rules: policy.explain(call) })
    sayJson({ items: [{ tool: call.tool.name, ...tested, expected: expect ?? null, isMet }] } satisfies JsonOutput<'policy test'>)
    return isMet
  }
  say(`${verdict}: ${reason}.`)
  if (verdict === 'ask') {
    const { quorum, declineQuorum, roles, notRequester } = requires
    const votes = `${quorum} to approve, ${declineQuorum} to decline, by ${roles.join(' or ')}`
    say(`  votes: ${votes}${notRequester ? ', not by the requester' : ''}`)
  }
  if (risk !== undefined) say(`  risk: ${risk}`)
  for (const line of rulesThatSpeak(policy, call, rule)) say(line)
  if (!isMet) say(`Expected ${expect}.`)
  return isMet
}

function* rulesThatSpeak(policy: CompiledPolicy, call: PolicyCall, winner: string): Generator<string> {
  for (const { rule, verdict, matches, failed } of policy.explain(call)) {
    if (matches)
      yield `  ${rule === winner ? '→' : ' '} ${verdict}  ${rule}${failed === undefined ? '' : `  (condition failed: ${failed})`}`
  }
}

/** @throws Error for an invalid call, or one of an unknown tool. */
function readCall(given: string, { tools }: Config): PolicyCall {
  const parsed = parseJson(existsSync(given) ? readText(given) : given)
  if (!parsed.ok) throw new Error(`--call: is neither a file nor JSON: ${parsed.reason}`)
  const read = TestPolicyBody.safeParse({ call: parsed.value })
  if (!read.success || !('call' in read.data)) throw new Error('--call: must be {"tool": …, "arguments": {…}}; see --help')
  const { tool: name, arguments: args, agent, requester, session = null, at } = read.data.call
  const tool = tools.byName(name)
  if (!tool) throw new Error(`--call: there is no tool ${name}`)
  const checked = tool.check(args as JsonObject)
  if (!checked.ok) {
    throw new Error(`--call: ${name}: ${checked.issues[0]?.message ?? 'the arguments do not fit'}`)
  }
  const nowMs = at === undefined ? Date.now() : Date.parse(at)
  return { tool, arguments: checked.value, agent, session, requester: requester ?? SOMEBODY, nowMs }
}

const SOMEBODY: Principal = { id: 'prn_somebody', kind: 'person', name: 'Somebody', roles: [] }
