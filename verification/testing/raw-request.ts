import { once } from 'node:events'
import { type IncomingHttpHeaders, request } from 'node:http'

/** Sends a request with headers that `fetch` does not let anybody set, such as `Host`. @param path Sent as it is, in place of that of `url`. */
export async function rawRequest(
  url: string,
  {
    method = 'GET',
    headers = {},
    body,
    path,
  }: { method?: string; headers?: Record<string, string>; body?: string | Buffer; path?: string },
): Promise<{ status: number; headers: IncomingHttpHeaders; text: string }> {
  const outgoing = request(url, { method, headers, agent: false, ...(path !== undefined && { path }) })
  outgoing.end(body)
  const [response] = await once(outgoing, 'response')
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) text += chunk
  return { status: response.statusCode, headers: response.headers, text }
}
