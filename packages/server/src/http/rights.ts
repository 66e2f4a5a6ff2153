import { CountersignError, type Principal } from '@countersign/core'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import {
  isAdmin,
  isAdminInScope,
  requireAdmin,
  requireOwnSignIn,
  requirePerson,
  requireScope,
  requireWriter,
  seesAll,
} from '../gate/index.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The right that a caller needs for this route. Every route without {@link FastifyContextConfig.access} has one. */
    right?: Right
  }
}

interface RightOf {
  /** The callers who have it, as a sentence for the reference. */
  who: string
  /**
   * @param doing What the route does, as an imperative: "make a key".
   * @throws CountersignError `forbidden` for a caller who has it not.
   */
  require(caller: Principal, doing: string): void
}

const refuse = (sentence: string): never => {
  throw new CountersignError('forbidden', sentence)
}

/** A person whose key decides: one that only asks must not speak for the person who decides about it. */
function requireDecider(caller: Principal, doing: string): void {
  requirePerson(caller, `may ${doing}`)
  requireScope(caller, ['decide'], doing)
}

function requireLastingDecider(caller: Principal, doing: string): void {
  requireDecider(caller, doing)
  requireOwnSignIn(caller, doing)
}

/**
 * The rights of callers, apart from those that depend on one action, session or other object: these are checked with the object. The gate
 * checks its own callers too, because not all of them come over HTTP.
 */
export const RIGHTS = {
  anyone: { who: 'Everybody with a key or a sign-in; each sees what concerns them.', require: () => undefined },
  'by-object': {
    who: 'Who may see the object, such as an action or a session; others get 404. What else it takes depends on the object.',
    require: () => undefined,
  },
  person: { who: 'Persons.', require: (caller, doing) => void requirePerson(caller, `may ${doing}`) },
  'person-with-role': {
    who: 'Persons with a role.',
    require(caller, doing) {
      const { name, roles } = requirePerson(caller, `may ${doing}`)
      if (roles.length === 0) refuse(`${name} has no role, and needs one to ${doing}`)
    },
  },
  'see-all': {
    who: 'Persons with the role `admin` or `viewer`.',
    require: (caller, doing) => seesAll(caller) || refuse(`${caller.name} may not ${doing}: the role admin or viewer is needed`),
  },
  metrics: {
    who: 'Persons with the role `admin` or `viewer`, and services with the role `monitor`.',
    require(caller, doing) {
      if (caller.kind === 'service' && caller.roles.includes('monitor')) return
      if (!seesAll(caller)) refuse(`${caller.name} may not ${doing}: this is for admins, viewers and services with the role monitor`)
    },
  },
  propose: {
    who: 'Agents, services, and persons with the role `admin`, `approver` or `member`. A limited key needs the scope `propose`.',
    require: requireWriter,
  },
  'propose-or-manage': {
    who: 'Who may propose, and admins. A limited key needs the scope `propose`; that of an admin one of `propose` and `manage`.',
    require: (caller) => isAdminInScope(caller) || requireWriter(caller),
  },
  decide: { who: 'Persons. A limited key needs the scope `decide`.', require: requireDecider },
  'decide-lasting': {
    who: 'Persons, but not with an embed token. A limited key needs the scope `decide`.',
    require: requireLastingDecider,
  },
  'list-people': {
    who: 'Persons, but not with an embed token. A limited key needs the scope `decide`; that of an admin one of `decide` and `manage`.',
    require(caller, doing) {
      if (isAdmin(caller)) requireScope(caller, ['decide', 'manage'], doing)
      else requireLastingDecider(caller, doing)
    },
  },
  admin: {
    who: 'Persons with the role `admin`. A limited key needs the scope `manage`.',
    require: (caller, doing) => requireAdmin(caller, `may ${doing}`),
  },
  embed: {
    who: 'Services with a key that has the scope `embed`.',
    require({ kind, scopes = [], unaccepted }, doing) {
      // A key that nobody has accepted has no scope yet, and the refusal of the token says how to accept it.
      if (kind === 'service' && (unaccepted || scopes.includes('embed'))) return
      refuse(`only the key of a service with the scope embed may ${doing}`)
    },
  },
  agent: {
    who: 'Agents.',
    require: ({ kind }, doing) => kind === 'agent' || refuse(`the key has to be an agent’s to ${doing}`),
  },
} as const satisfies Record<string, RightOf>

export type Right = keyof typeof RIGHTS

/**
 * The scope of a key in another program's file. With `propose` alone such a key could still read, because reading tools run without
 * approval.
 */
const onlyMonitors = ({ kind, roles }: Principal): boolean =>
  kind === 'service' && roles.length > 0 && roles.every((role) => role === 'monitor')

/** @throws CountersignError `forbidden` for a caller without the right. */
function requireRight(right: Right, caller: Principal, doing: string): void {
  if (right !== 'metrics' && onlyMonitors(caller)) {
    refuse(`${caller.name} reads /metrics and nothing else: it has the role monitor alone`)
  }
  RIGHTS[right].require(caller, doing)
}

/**
 * Refuses callers without the right of their route, and everybody where a route names none. Call it right after authentication and before
 * everything else that reads the request: a caller without the right learns nothing about its shape.
 */
export function enforceRights(app: FastifyInstance): void {
  const check = async ({ principal, is404, routeOptions: { config, schema } }: FastifyRequest): Promise<void> => {
    const { access, right } = config
    if (is404 || access !== undefined) return
    if (right === undefined || !principal) return refuse('this route names no right, so nobody may call it')
    const { summary = 'Call this' } = schema ?? {}
    requireRight(right, principal, summary.charAt(0).toLowerCase() + summary.slice(1))
  }
  app.addHook('onRequest', check)
  // While a body comes, its sender may lose a role.
  app.addHook('preValidation', async (request) => (request.isBodyLate ? check(request) : undefined))
}
