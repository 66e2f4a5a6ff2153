import { type JsonObject, type JsonValue, mediaOf, type ToolMedia } from '@countersign/core'
import type { CallToolResult } from '@modelcontextprotocol/server'
import { z } from 'zod'

type Content = CallToolResult['content'][number]

const Links = z.array(z.strictObject({ uri: z.string(), name: z.string() })).default([])
const Resources = z.array(z.strictObject({ uri: z.string(), mimeType: z.string().optional(), text: z.string() })).default([])
/** A result as the MCP tool sources store one that is more than its text or its JSON. */
const Rich = z.strictObject({
  content: z.unknown().optional(),
  text: z.string().optional(),
  links: Links,
  resources: Resources,
  media: z.array(z.unknown()).default([]),
  notes: z.array(z.string()).default([]),
})

/**
 * Returns a result with images, audio, files or embedded texts as blocks of the protocol, as its server sent them. Returns undefined for
 * any other result, which its text and JSON represent fully.
 */
export function contentOf(result: JsonValue): Pick<CallToolResult, 'content' | 'structuredContent'> | undefined {
  const rich = Rich.safeParse(result)
  const media = mediaOf(result)
  // A value that the sources did not store as an image is data that looks like one.
  if (!rich.success || rich.data.media.length !== media.length || media.length + rich.data.resources.length === 0) return undefined
  const { content, text, links, resources, notes } = rich.data
  const isStructured = typeof content === 'object' && content !== null && !Array.isArray(content)
  const said = typeof content === 'string' ? content : content === undefined ? '' : JSON.stringify(content)
  return {
    content: [
      ...[said, text ?? ''].filter((words) => words !== '').map((words): Content => ({ type: 'text', text: words })),
      ...resources.map(({ mimeType, ...rest }): Content => ({ type: 'resource', resource: { ...rest, ...(mimeType && { mimeType }) } })),
      ...media.map(blockOf),
      ...links.map((link): Content => ({ type: 'resource_link', ...link })),
      ...notes.map((note): Content => ({ type: 'text', text: `Note: ${note}` })),
    ],
    ...(isStructured && { structuredContent: content as JsonObject }),
  }
}

function blockOf({ type, mimeType, data, name = '' }: ToolMedia): Content {
  return type === 'file' ? { type: 'resource', resource: { uri: name, mimeType, blob: data } } : { type, mimeType, data }
}
