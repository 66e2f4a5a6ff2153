import type { JsonObject, JsonValue, PreviewField, Tool } from '@countersign/core'
import { isObject } from '@countersign/core/text'
import type { ToolDraft } from '@countersign/toolkit'
import { z } from 'zod'
import { draftHostRun, isHostRunTool, Worked } from '../host-run.ts'
import { assessFile, assessShell } from './assess.ts'
import { About, added, type Definition, Json, oneLine } from './definition.ts'
import { fileRule, isPlainFile } from './file-rule.ts'
import type { Kind } from './hosts.ts'
import { MCP } from './mcp/mcp-tool.ts'
import { readPatch } from './patch-files.ts'
import { isSensitive } from './sensitive-names.ts'
import { commandRule, isPlainCommand } from './shell/command-rule.ts'
import { isOutside, readCommand, type ShellReading } from './shell/read-command.ts'
import { foldersIn } from './shell/run-folder.ts'
import { FETCH, SEARCH } from './web/web-tools.ts'

/** A host that runs a call says what came of it. After this long without a word the outcome is unknown; a late report still counts. */
const REPORT_WITHIN_MS = 60 * 60_000

const Place = { outside: Worked, sensitive: Worked }

const COMMAND = {
  input: z.object({ ...About, command: z.string().min(1).max(100_000), options: Json, shell: Worked }),
  work: ({ command, folder, options }: { command: string; folder: string; options: JsonObject }): JsonObject => ({
    shell: { ...readCommand(command, folder, foldersIn(options)) },
  }),
  describe: ({ command }: JsonObject) => `Run ${oneLine(String(command))}`,
  preview: previewShell,
  assess: ({ shell }: JsonObject) => assessShell(readingOf(shell)),
  grantRules: { mayCover: isPlainCommand, suggest: commandRule },
  // The argument `folder`, and what the command was read to do, follow from them.
  hostDecides: ({ options }: JsonObject) => ({ options: isObject(options) ? foldersIn(options) : [] }),
}

const FILES = { mayCover: isPlainFile, suggest: fileRule }

/** The tools of the group: one for each kind of thing that a host does. The host runs them itself and asks here whether it may. */
export const hostTools = (): ToolDraft[] => [
  draft({ ...COMMAND, kind: 'shell', description: 'Runs a shell command.', effect: 'write' }),
  draft({
    ...COMMAND,
    kind: 'look',
    description: 'Runs a shell command that only prints what it reads, in the folder.',
    effect: 'read',
    refuse: ({ shell }) => (readingOf(shell).readOnly ? undefined : 'does more than print what it reads in the folder'),
  }),
  draft({
    kind: 'read',
    description: 'Reads files, or searches in them.',
    effect: 'read',
    input: z.object({ ...About, path: z.string().max(4_000).optional(), options: Json, ...Place }),
    work: placeOf,
    describe: ({ path, folder, hostTool }) => `${hostTool} ${path ?? folder}`,
    preview: ({ path, folder, options }) => [
      ...(path === undefined ? [] : [added('file', path)]),
      added('folder', folder),
      ...optionRows(options),
    ],
    assess: (args) => assessFile(args, 'reads'),
  }),
  draft({
    kind: 'edit',
    description: 'Changes a part of a file.',
    effect: 'write',
    input: z.object({
      ...About,
      path: z.string().min(1).max(4_000),
      oldText: z.string().optional(),
      newText: z.string().optional(),
      edits: z.array(Json).optional(),
      options: Json,
      ...Place,
    }),
    work: placeOf,
    describe: ({ path }) => `Change ${path}`,
    preview: previewEdit,
    assess: (args) => assessFile(args, 'changes'),
    grantRules: FILES,
  }),
  draft({
    kind: 'write',
    description: 'Writes a whole file.',
    effect: 'write',
    input: z.object({ ...About, path: z.string().min(1).max(4_000), content: z.string(), options: Json, ...Place }),
    work: placeOf,
    describe: ({ path }) => `Write ${path}`,
    preview: ({ path, content, folder, options }) => [added(String(path), content), added('folder', folder), ...optionRows(options)],
    assess: (args) => assessFile(args, 'writes'),
    grantRules: FILES,
  }),
  draft({
    kind: 'patch',
    description: 'Applies a patch to several files.',
    effect: 'write',
    input: z.object({ ...About, patch: z.string().min(1), options: Json, files: Worked, ...Place }),
    work: ({ patch, folder }: { patch: string; folder: string }) => readPatch(patch, folder),
    describe: ({ files }) => `Patch ${Array.isArray(files) && files.length > 0 ? oneLine(files.join(', ')) : 'files'}`,
    preview: ({ patch, folder, options }) => [added('patch', patch), added('folder', folder), ...optionRows(options)],
    assess: (args) => assessFile(args, 'changes'),
  }),
  draft(FETCH),
  draft(SEARCH),
  draft(MCP),
  draft({
    kind: 'other',
    description: 'Any other tool of the host.',
    effect: 'write',
    input: z.object({ ...About, input: Json }),
    describe: ({ hostTool }) => `Use the tool ${hostTool}`,
    preview: ({ input, folder }) => [added('input', input), added('folder', folder)],
    assess: () => ({ level: 'medium', reasons: ['the effect of this tool is not known here'] }),
  }),
]

function draft({ work, refuse, ...tool }: Definition): ToolDraft {
  return draftHostRun({
    ...tool,
    reportWithinMs: REPORT_WITHIN_MS,
    notHere: 'The host of the agent runs this itself.',
    complete(args) {
      const value = { ...args, ...work?.(args) }
      const refused = refuse?.(value)
      return refused === undefined ? { value } : { refused: { path: '/command', message: refused } }
    },
  })
}

function placeOf({ path, folder, hostTool, options }: Placed): JsonObject {
  const { pattern, glob, include, include_pattern: included } = isObject(options) ? options : {}
  // A search for names takes its folder from its pattern, too: `/etc/**`. One in files may name the files.
  const places = [path, /^glob$/i.test(hostTool) ? pattern : undefined, glob, include, included].filter(
    (place) => typeof place === 'string',
  )
  return { outside: places.some((place) => isOutside(place, folder)), sensitive: places.some(isSensitive) }
}

type Placed = { path?: string | undefined; folder: string; hostTool: string; options: JsonValue }

/** Reads the argument that `check` added. */
const readingOf = (shell: unknown): ShellReading => shell as ShellReading

/** Returns a row with the other inputs of the host's tool, if there are any: a card shows the whole call. */
const optionRows = (options: JsonValue | undefined, field = 'options'): PreviewField[] =>
  isObject(options) && Object.keys(options).length > 0 ? [added(field, options)] : []

function previewShell({ command, folder, shell, options }: JsonObject): PreviewField[] {
  const reading = readingOf(shell)
  const lists: [string, string[]][] = [
    ['runs', reading.programs],
    ['writes', reading.writes],
    ['outside the folder', reading.outside],
    ['cannot be read', reading.unclear],
  ]
  return [
    added('command', command),
    added('folder', folder),
    ...lists.filter(([, values]) => values.length > 0).map(([field, values]) => added(field, values.join(', '))),
    ...optionRows(options),
  ]
}

function previewEdit({ path, folder, oldText, newText, edits, options }: JsonObject): PreviewField[] {
  const file = String(path)
  const parts = Array.isArray(edits) ? edits : [{ old_string: oldText ?? null, new_string: newText ?? null }]
  return [
    ...parts.flatMap((part, at): PreviewField[] => {
      const { old_string: before, new_string: after, ...others } = part as JsonObject
      const row = {
        field: file,
        ...(typeof before === 'string' && before !== '' && { oldValue: before }),
        ...(typeof after === 'string' && { newValue: after }),
      }
      return [row, ...optionRows(others, `options of change ${at + 1}`)]
    }),
    added('folder', folder),
    ...optionRows(options),
  ]
}

/** One of the tools of this group, by its name in whatever group. */
export const isHostTool = (tool: Pick<Tool, 'isHostRun' | 'name'>, kind: Kind): boolean => isHostRunTool(tool, kind)
