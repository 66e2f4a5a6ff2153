import type { z } from 'zod'
import type { CodedTool } from './define.ts'
import type { AnySourceKind, SourceKind } from './source.ts'
import type { ToolDraft } from './tool-draft.ts'

const configured = new WeakSet<object>()

/** A source with its settings, for `{ source: … }` in a group of the configuration. Made by {@link defineSource}. */
export interface ConfiguredSource {
  readonly kind: AnySourceKind
  /** As written. The schema of the kind reads them when the configuration is opened. */
  readonly settings: unknown
}

/**
 * Defines a kind of source: tools that have to be read or connected to before they are known. For tools that are known when the configuration
 * is written, `defineTool` is enough.
 * @returns A function from settings to a source for the configuration.
 * @example
 * const crm = defineSource({
 *   schema: z.strictObject({ url: z.url() }),
 *   async open({ url }, { network }) {
 *     const names = await listReports(url, network)
 *     return {
 *       kind: 'crm',
 *       secrets: [],
 *       drafts: () => names.map((name) => draftOf(reportTool(url, name), { destination: url })),
 *       check: async () => [{ level: 'ok', message: `${names.length} reports` }],
 *     }
 *   },
 * })
 * export default defineConfig({ tools: { crm: { source: crm({ url: 'https://crm.example.com' }) } } })
 */
export function defineSource<Schema extends z.ZodType>(
  kind: { schema: Schema } & SourceKind<z.output<Schema>>,
): (settings: z.input<Schema>) => ConfiguredSource {
  return (settings) => {
    const source = { kind, settings }
    configured.add(source)
    return source
  }
}

/** True for what a function of {@link defineSource} returned. */
export const isConfiguredSource = (value: unknown): value is ConfiguredSource =>
  typeof value === 'object' && value !== null && configured.has(value)

/**
 * Turns a tool of `defineTool` into a tool of a source.
 * @param options `destination` is where its calls go: an origin such as `https://crm.example.com`, or `local`. `definition` is JSON that
 * changes when the tool does something else; an approval is valid for one definition only. Default null.
 * @example
 * draftOf(closeAccount, { destination: 'https://crm.example.com', definition: { version: 2 } })
 */
export function draftOf(
  { secrets: _, ...tool }: CodedTool,
  { destination, definition = null }: Pick<ToolDraft, 'destination'> & Partial<Pick<ToolDraft, 'definition'>>,
): ToolDraft {
  return { ...tool, destination, definition }
}
