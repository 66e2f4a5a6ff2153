import { type JsonObject, type JsonValue, type PreviewField, ToolError } from '@countersign/core'
import { entriesOf, isCut, type KnownServer, type ReadOther, reads, said } from './known-tool.ts'

/** `@modelcontextprotocol/server-filesystem`: a write shows the current content of the file and the new one. */
export const FILESYSTEM: KnownServer = {
  startedBy: ['@modelcontextprotocol/server-filesystem', 'mcp-server-filesystem'],
  tools: {
    ...reads('read_file', 'read_text_file', 'read_media_file', 'read_multiple_files', 'list_directory', 'list_directory_with_sizes'),
    ...reads('directory_tree', 'search_files', 'get_file_info', 'list_allowed_directories'),
    write_file: {
      effect: 'write',
      risk: 'medium',
      describe: ({ path, content }) =>
        `Write ${numbered(typeof content === 'string' ? content.length : 0, 'character')} to the file ${said(path)}`,
      preview: async ({ path, content }, read) => changeOf(path, await contentOf(path, read), content),
    },
    edit_file: {
      effect: 'write',
      risk: 'medium',
      describe: ({ path, edits, dryRun }) =>
        `${dryRun === true ? 'Try out' : 'Make'} ${countOf(edits, 'edit')} ${dryRun === true ? 'on' : 'in'} the file ${said(path)}`,
      preview: previewEdits,
    },
    create_directory: { effect: 'write', risk: 'medium', describe: ({ path }) => `Create the directory ${said(path)}` },
    move_file: {
      effect: 'write',
      risk: 'medium',
      describe: ({ source, destination }) => `Move ${said(source)} to ${said(destination)}`,
      preview: async ({ source, destination }) => [{ field: 'path', oldValue: source ?? null, newValue: destination ?? null }],
    },
  },
}

async function previewEdits({ path, edits }: JsonObject, read: ReadOther): Promise<PreviewField[]> {
  const before = await contentOf(path, read)
  if (before === undefined) throw new ToolError('refused', `There is no file ${said(path)} to edit.`, { impossible: true })
  let after = withLineFeeds(before)
  for (const edit of entriesOf(edits)) {
    const { oldText, newText } = edit as JsonObject
    const isText = typeof oldText === 'string' && typeof newText === 'string'
    const edited = isText ? editedText(after, withLineFeeds(oldText), withLineFeeds(newText)) : undefined
    if (edited === undefined) {
      const why = `The file ${said(path)} does not hold the text that is to be replaced: ${said(oldText)}`
      throw new ToolError('refused', why, { impossible: true })
    }
    after = edited
  }
  return changeOf(path, before, after)
}

/** Replaces a text as the server does (`applyFileEdits` in its `lib.js`): the first such text, else the first lines that differ in outer spaces. */
function editedText(text: string, oldText: string, newText: string): string | undefined {
  if (text.includes(oldText)) return text.replace(oldText, () => newText)
  const [lines, old] = [text.split('\n'), oldText.split('\n')]
  const at = lines.findIndex((_, i) => i + old.length <= lines.length && old.every((line, j) => line.trim() === lines[i + j]?.trim()))
  if (at < 0) return undefined
  const indent = indentOf(lines[at])
  const replaced = newText.split('\n').map((line, j) => {
    const [before, after] = [indentOf(old[j]), indentOf(line)]
    if (j === 0) return indent + line.trimStart()
    return before && after ? indent + ' '.repeat(Math.max(0, after.length - before.length)) + line.trimStart() : line
  })
  return lines.toSpliced(at, old.length, ...replaced).join('\n')
}

const indentOf = (line = ''): string => /^\s*/.exec(line)?.[0] ?? ''

/** The server does this to the whole file and to each edit before it replaces anything. */
const withLineFeeds = (text: string): string => text.replaceAll('\r\n', '\n')

const changeOf = (path: JsonValue | undefined, before: string | undefined, after: JsonValue | undefined): PreviewField[] => [
  // Which file it is may be told by the end of its path. With both values alike, it is what the change is about.
  ...(isCut(path) ? [{ field: 'path', oldValue: path, newValue: path }] : []),
  { field: said(path), ...(before !== undefined && { oldValue: before }), newValue: after ?? null },
]

/** Matches the error of a server whose file does not exist. Only its beginning is matched: the rest may contain the path, which the agent chooses. */
const MISSING = /^The MCP server [\w-]+ says that it failed: (?:Error: )?ENOENT: /

/** Returns the current content of a file; undefined when the file does not exist. */
async function contentOf(path: JsonValue | undefined, read: ReadOther): Promise<string | undefined> {
  try {
    const found = await read('read_text_file', { path: path ?? null })
    const { content, notes }: JsonObject =
      typeof found === 'object' && found !== null && !Array.isArray(found) ? found : { content: found ?? null }
    if (notes !== undefined) throw new ToolError('refused', `The file ${said(path)} is too large to be shown.`)
    if (typeof content === 'string') return content
    throw new ToolError('refused', `The file ${said(path)} could not be read as text.`)
  } catch (error) {
    if (error instanceof ToolError && MISSING.test(error.message)) return undefined
    throw error
  }
}

const countOf = (value: JsonValue | undefined, noun: string): string => numbered(entriesOf(value).length, noun)

const numbered = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`
