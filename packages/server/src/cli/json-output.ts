import { Action, AuditSealView, CreatedKey, Key, ReplayedActions, TestedCall } from '@countersign/core'
import { z } from 'zod'

const Verdict = TestedCall.shape.verdict
const Head = z.strictObject({ number: z.int(), hash: z.string() })
const Time = z.iso.datetime()

/** Epoch ms would be another form than that of the API. */
const Backup = {
  newestEventAt: Time.nullable(),
  position: z.int(),
  waiting: z.int(),
  approved: z.int(),
  executing: z.int(),
  migration: z.string(),
}

/**
 * The objects that commands print with `--json`, by the words of the command: one line each, with null for what is unknown. The page of the
 * command line shows them. A list is for a command that prints one of several, depending on its options.
 */
export const JSON_OUTPUTS = {
  init: z.strictObject({
    folder: z.string(),
    files: z.array(z.strictObject({ path: z.string(), about: z.string() })),
    next: z.array(z.string()),
  }),
  connect: z.strictObject({
    host: z.string(),
    file: z.string(),
    isConnected: z.boolean(),
    hasChanged: z.boolean(),
    problem: z.string().nullable(),
    notes: z.array(z.string()),
  }),
  inbox: z.strictObject({ items: z.array(Action) }),
  approve: Action,
  decline: Action,
  tail: z.strictObject({ id: z.int().optional(), type: z.string(), data: z.json() }),
  run: z.strictObject({ type: z.string(), data: z.json() }),
  archive: z.strictObject({
    dryRun: z.boolean(),
    settledBefore: Time,
    folder: z.string(),
    sessions: z.int(),
    rows: z.int(),
    files: z.array(z.strictObject({ name: z.string(), sessions: z.int(), rows: z.int(), bytes: z.int() })),
  }),
  'archive verify': z.strictObject({
    files: z.array(z.strictObject({ path: z.string(), problem: z.string().nullable(), sessions: z.int(), rows: z.int() })),
  }),
  backup: z.strictObject({ file: z.string(), bytes: z.int(), ...Backup }),
  restore: z.strictObject({ file: z.string(), movedTo: z.string().nullable(), ...Backup }),
  migrate: z.strictObject({ migrations: z.array(z.string()) }),
  'policy check': z.strictObject({
    file: z.string(),
    problems: z.array(z.strictObject({ path: z.string(), message: z.string() })),
    rules: z.int().nullable(),
    default: Verdict.nullable(),
    warnings: z.array(z.string()),
  }),
  'policy test': z.union([
    z.strictObject({
      items: z.array(z.strictObject({ tool: z.string(), ...TestedCall.shape, expected: Verdict.nullable(), isMet: z.boolean() })),
    }),
    ReplayedActions,
  ]),
  doctor: z.strictObject({
    problems: z.int(),
    findings: z.array(z.strictObject({ check: z.string(), level: z.enum(['ok', 'note', 'problem']), message: z.string() })),
    policy: z.array(
      z.strictObject({
        tool: z.string(),
        effect: z.enum(['read', 'write']),
        agent: z.string().optional(),
        would: z.string(),
        risk: z.string().optional(),
        rule: z.string(),
        unless: z.array(z.string()),
      }),
    ),
  }),
  'audit verify': z.strictObject({
    file: z.string(),
    problem: z.string().nullable(),
    problems: z.array(z.string()),
    unlisted: z.int(),
    rows: z.int(),
    redacted: z.int(),
    chains: z.int(),
    heads: z.strictObject({ first: z.int(), last: z.int() }).nullable(),
    time: z.strictObject({ first: Time, last: Time }).nullable(),
    keys: z.array(z.string()),
    gaps: z.array(
      z.strictObject({
        head: z.int(),
        kind: z.enum(['behind', 'changed']),
        found: Head,
        remembered: Head,
        by: z.string(),
        reason: z.string(),
      }),
    ),
    anchored: z.int().nullable(),
  }),
  'audit accept': z.strictObject({ accepted: AuditSealView.shape.problem, seal: AuditSealView }),
  'key create': CreatedKey,
  'key list': z.strictObject({ items: z.array(Key) }),
  'key accept': Key,
  'key revoke': Key,
  'sign-in': z.strictObject({ link: z.url() }),
} satisfies Readonly<Record<string, z.ZodType>>

/** The output of a command with `--json`. */
export type JsonOutput<Words extends keyof typeof JSON_OUTPUTS> = z.output<(typeof JSON_OUTPUTS)[Words]>
