import type { JsonValue, PolicyDocument } from '@countersign/core'
import type { ZodType, z } from 'zod'
import type { Network, Redactor } from './net/index.ts'
import type { ObjectiveStore } from './objective-store.ts'
import type { SetupProblem } from './setup-error.ts'
import type { ToolDraft } from './tool-draft.ts'

/** The rules of a policy, as people write them. */
export type StarterRules = NonNullable<z.input<typeof PolicyDocument>['rules']>

/** The network and the redactor of all calls. */
export interface OutboundContext {
  network: Network
  /** Removes secrets from answers. The server redacts what a {@link ToolSource} yields. */
  redactor: Redactor
}

/** The server's services for a source, passed once the server is open. */
export interface SourceServices {
  log: SourceLog
  pins: PinStore
  objectives: ObjectiveStore
  /** The files of the server itself. No tool that reaches files changes them, and none reads those that are secret. */
  ownFiles: readonly OwnFile[]
}

/** A file or folder that decides what the server does at its next start, or holds its secrets. */
export interface OwnFile {
  /** Absolute. It need not be there. */
  path: string
  /** Its name for people: `the policy`. */
  what: string
  /** True for files that tools may not read either: keys, tokens, the database. */
  secret: boolean
  /** Names that go on with a dot count too: `.env.local`. */
  family: boolean
}

/** A source's definition of one of its tools. */
export interface Pin {
  /** As the source names it. */
  tool: string
  hash: string
  definition: string
}

/**
 * The definitions of tools when they were first seen, or when people last accepted them. They survive restarts, and all processes share
 * them.
 */
export interface PinStore {
  all(group: string): Promise<Pin[]>
  /** Keeps those of them that are new; the others stay as they are. */
  keep(group: string, pins: readonly Pin[]): Promise<void>
  replace(group: string, pin: Pin): Promise<void>
}

export interface SourceLog {
  info(facts: Record<string, JsonValue>, event: string): void
  warn(facts: Record<string, JsonValue>, event: string): void
}

/** One thing that `countersign doctor` found out about a source: in plain words, without secrets. */
export interface SourceFinding {
  /** `problem` makes the doctor's exit code 1. */
  level: 'ok' | 'note' | 'problem'
  message: string
}

/**
 * Where tools come from that have to be read or connected to before they are known: an OpenAPI document, an MCP server, a service that is
 * spoken to through its own library. Opened with the configuration, closed with the server.
 */
export interface ToolSource {
  /** As the configuration names it: `openapi`. */
  readonly kind: string
  /** Texts that its calls carry and that must never come back in an answer. */
  readonly secrets: readonly string[]
  /** False while it has not told which tools it has: globs that mean them are believed until then. Default true. */
  readonly isKnown?: boolean
  /**
   * Since when it cannot be reached (epoch ms), and why, in plain words. Undefined while it can. The server tells it from the calls of a source
   * that has no such property.
   */
  readonly away?: { sinceMs: number; why: string } | undefined
  /** Its tools as they are now, named without their group. `report` takes what cannot be opened, with its path under the kind. */
  drafts(way: OutboundContext, report: (problem: SetupProblem) => void): ToolDraft[]
  /**
   * For a source whose tools change while the server runs. It calls `onToolsChanged` whenever `drafts` says something else than before, and is
   * answered what could not be taken in.
   */
  onChange?(onToolsChanged: () => SetupProblem[]): void
  /** Called once, before the first call, when the server has what a source may need of it. */
  attach?(services: SourceServices): Promise<void> | void
  /** Checks whether the source can be reached and signed in to, by reading only. Returns findings instead of throwing. */
  check(way: OutboundContext, signal: AbortSignal): Promise<SourceFinding[]>
  /** Ends what it started. */
  close?(): Promise<void>
}

/** The arguments of opening a source. */
export interface SourceOpening {
  /** The name of its group in the configuration. */
  group: string
  /** Relative paths are meant from here. */
  folder: string
  network: Network
  /** Takes each problem with its path under the kind (`['document']`). A source with a problem is not used. */
  report(problem: SetupProblem): void
  /**
   * The text with `${NAME}` replaced from the environment, for what is never shown (tokens, headers). Put what it returns into `secrets`.
   * A variable that is missing is reported.
   */
  fillSecret(text: string, path: readonly PropertyKey[]): { value: string; secrets: string[] }
  /** Those of the variables of our own environment that are set, for a program that is started. */
  inherit(names: readonly string[]): Record<string, string>
  /** An address that may be one variable (`${CRM_URL}`): its origin is shown, so a secret cannot be part of it. */
  fillAddress(text: string, path: readonly PropertyKey[]): string
  /** Reports every `${NAME}` in what is shown to people or models. */
  refuseVariables(value: unknown, path: readonly PropertyKey[]): void
}

/** A kind of source with settings of any type. */
export interface AnySourceKind {
  schema: ZodType
  /** @param settings The output of `schema`. */
  open(settings: never, opening: SourceOpening): Promise<ToolSource | undefined> | ToolSource | undefined
  starter?(group: string): StarterRules
}

/** A kind of source: the settings that the configuration may hold, and how to open it with them. */
export interface SourceKind<Settings> extends AnySourceKind {
  schema: ZodType<Settings>
  /** Opens the source. Returns undefined after it reported why it cannot. */
  open(settings: Settings, opening: SourceOpening): Promise<ToolSource | undefined> | ToolSource | undefined
  /** The rules that a policy for a group of these tools can start from. `countersign policy starter` prints them. */
  starter?(group: string): StarterRules
}
