import { CountersignError, matchesGlob, REGISTERED_GROUP, type RegisterToolBody, type Tool } from '@countersign/core'
import { openPatternBudget, type PatternBudget, type ToolRegistry } from '@countersign/toolkit/internal'
import type { Logger } from 'pino'
import { recordAudit } from '../audit/index.ts'
import type { Clock } from '../clock.ts'
import { type Caller, requireStanding, requireWriter, transactOnce } from '../gate/index.ts'
import { lockKey, type RegisteredToolRow, registeredTools, type Store, type Tx } from '../store/index.ts'
import { type HashedDefinition, readDefinition } from './definition.ts'
import { openTool } from './open-tool.ts'

const LOCK = 'registered_tools'

/** Budgets for patterns are kept for so many owners. */
const MOST_BUDGETS = 1_000

export type Registration = 'registered' | 'unchanged' | 'changed'

/** The tools that agents registered and carry out themselves. */
export interface RegisteredTools {
  /**
   * The tools of the configuration; `byName` and `mayFit` know the registered ones too. No agent of this server is offered those. `mayFit` also
   * knows those that cannot be used now: the name stays with its owner, so a rule about it means that tool when it comes back.
   */
  readonly tools: ToolRegistry
  /** Reads a registered tool again, before it is used: another process may have changed it. Does nothing for a configured one. */
  refresh(name: string): Promise<void>
  /**
   * Returns a tool as it is now, configured or registered: with the definition that the database has, and the change that nobody has accepted
   * there. Undefined without one.
   */
  current(name: string): Promise<Tool | undefined>
  /** Returns all that can be used at this moment. */
  list(): Promise<Tool[]>
  /**
   * Registers a tool of the caller, or changes it.
   * @throws CountersignError `bad_request`, `too_large`, `forbidden`; `name_taken` for the name of a configured tool or of somebody else's.
   */
  register(body: RegisterToolBody, caller: Caller): Promise<{ tool: Tool; status: Registration }>
  /** Removes a tool of the caller, or for an admin anybody's. The name stays with its owner. @throws CountersignError `not_found`. */
  remove(name: string, caller: Caller, isAdmin: boolean): Promise<void>
}

export interface RegisteredDeps {
  store: Store
  clock: Clock
  log: Logger
  configured: ToolRegistry
}

/** Opens the registered tools of a database. */
export async function openRegisteredTools({ store, clock, log, configured }: RegisteredDeps): Promise<RegisteredTools> {
  const known = new Map<string, Tool>()
  const named = new Set<string>()
  /** The hash of the definition that people had accepted when a known tool was opened: its card shows the change from there. */
  const acceptedOf = new WeakMap<Tool, string>()
  const budgets = new Map<string, PatternBudget>()

  /** The patterns of one owner that this process has compiled stay in memory, so their number is limited for as long as it runs. */
  function budgetOf(ownerId: string): PatternBudget {
    const budget = budgets.get(ownerId) ?? openPatternBudget()
    if (!budgets.has(ownerId) && budgets.size >= MOST_BUDGETS) {
      throw new CountersignError('bad_request', 'too many agents registered tools since the server started: restart it')
    }
    budgets.set(ownerId, budget)
    return budget
  }

  function open(row: registeredTools.OwnedTool): Tool | undefined {
    const before = known.get(row.name)
    const isSame = before?.registered?.hash === row.hash && before.registered.ownerName === row.owner_name
    if (before && isSame && acceptedOf.get(before) === row.accepted_hash) return before
    try {
      // As it was registered; the budget is of this process.
      readDefinition(JSON.parse(row.definition), budgetOf(row.owner_id))
      const tool = openTool(row)
      acceptedOf.set(tool, row.accepted_hash)
      return tool
    } catch (error) {
      log.warn({ tool: row.name, error }, 'registered_tool.unusable')
      return undefined
    }
  }

  function keep(rows: readonly registeredTools.OwnedTool[]): Tool[] {
    const tools = rows.flatMap((row) => (configured.byName(row.name) ? [] : (open(row) ?? [])))
    for (const tool of tools) known.set(tool.name, tool)
    return tools
  }

  async function refresh(name: string): Promise<void> {
    if (configured.byName(name)) return
    const [tool] = keep(await store.read(() => registeredTools.usableTools(name)))
    if (!tool) known.delete(name)
  }

  async function list(): Promise<Tool[]> {
    const { usable, all } = await store.read(function* () {
      return { usable: yield* registeredTools.usableTools(), all: yield* registeredTools.allNames.all({}) }
    })
    for (const { name } of all) named.add(name)
    const tools = keep(usable)
    const names = new Set(tools.map(({ name }) => name))
    for (const name of known.keys()) if (!names.has(name)) known.delete(name)
    return tools
  }

  async function current(name: string): Promise<Tool | undefined> {
    await refresh(name)
    await byName(name)?.change?.reload?.()
    return byName(name)
  }

  const byName = (name: string) => configured.byName(name) ?? known.get(name)

  function requireFreeName(name: string): void {
    const [group = ''] = name.split('.')
    const folded = foldName(name)
    const taken = configured.all().find((tool) => foldName(tool.name) === folded || foldName(tool.modelName) === folded)
    if (taken) throw new CountersignError('name_taken', `the configuration has a tool named ${taken.name}: choose another name`)
    if (name.includes('.') && [...configured.groups.keys(), REGISTERED_GROUP].some((one) => foldName(one) === foldName(group))) {
      throw new CountersignError('name_taken', `names that begin with ${group}. belong to a group of tools of the configuration`)
    }
  }

  await list()
  return {
    tools: {
      ...configured,
      byName,
      mayFit: (glob) => configured.mayFit(glob) || named.values().some((name) => matchesGlob(glob, name)),
    },
    refresh,
    current,
    list,
    async register(body, caller) {
      const { principal } = caller
      requireWriter(principal)
      requireFreeName(body.name)
      const read = readDefinition(body, budgetOf(principal.id))
      const status = await transactOnce({ store, clock }, caller, function* ({ outbox, nowMs }): Tx<Registration> {
        yield* lockKey(LOCK)
        yield* requireStanding(caller, nowMs)
        const found = yield* registeredTools.findTool.first({ name: body.name })
        const status = statusOf(found, read, principal.id)
        if (status === 'unchanged') return status
        if (status === 'registered') yield* requireRoom(principal.id)
        const kind = status === 'registered' ? 'tool_registered' : 'tool_changed'
        const data = { tool: body.name, hash: read.hash, was: found?.hash ?? null }
        yield* recordAudit(outbox, { kind, actor: principal.id, data }, nowMs)
        const { text: definition, hash } = read
        if (!found) yield* registeredTools.insertTool.run({ name: body.name, owner_id: principal.id, definition, hash, now: nowMs })
        else yield* registeredTools.changeTool.run({ name: body.name, definition, hash, now: nowMs })
        return status
      })
      named.add(body.name)
      await refresh(body.name)
      const tool = known.get(body.name)
      if (!tool) throw new CountersignError('busy', `the tool ${body.name} was removed at the same time: register it again`)
      return { tool, status }
    },
    async remove(name, caller, isAdmin) {
      const { principal } = caller
      await transactOnce({ store, clock }, caller, function* ({ outbox, nowMs }): Tx<null> {
        yield* lockKey(LOCK)
        yield* requireStanding(caller, nowMs)
        const found = yield* registeredTools.findTool.first({ name })
        if (!found || found.removed_at !== null || (!isAdmin && found.owner_id !== principal.id)) {
          throw new CountersignError('not_found', `there is no tool ${name} that you registered`)
        }
        yield* recordAudit(outbox, { kind: 'tool_removed', actor: principal.id, data: { tool: name, hash: found.hash } }, nowMs)
        yield* registeredTools.removeTool.run({ name, now: nowMs })
        return null
      })
      await refresh(name)
    },
  }
}

/** People take `SHOP.PAY` and `shop_pay`, as models see it, for `shop.pay`. */
const foldName = (name: string): string => name.toLowerCase().replaceAll(/[.-]/g, '_')

function statusOf(found: RegisteredToolRow | undefined, { hash, definition }: HashedDefinition, ownerId: string): Registration {
  if (!found) return 'registered'
  if (found.owner_id !== ownerId) {
    throw new CountersignError('name_taken', `somebody else registered a tool named ${definition.name}: choose another name`)
  }
  if (found.hash === hash && found.removed_at === null) return 'unchanged'
  return 'changed'
}

function* requireRoom(ownerId: string): Tx<void> {
  const own = Number((yield* registeredTools.countOf.first({ owner_id: ownerId }))?.count ?? 0)
  const all = Number((yield* registeredTools.countAll.first({}))?.count ?? 0)
  if (own >= registeredTools.MOST_OF_ONE || all >= registeredTools.MOST_OF_ALL) {
    const limit = own >= registeredTools.MOST_OF_ONE ? registeredTools.MOST_OF_ONE : registeredTools.MOST_OF_ALL
    throw new CountersignError('bad_request', `there are ${limit} registered tools, removed ones included, and there can be no more`)
  }
}
