import { createDecipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The keys of a browser's subscription, with the private one. */
export interface BrowserKeys {
  p256dh: string
  auth: string
  privateKey: Uint8Array
}

export function browserKeys(): BrowserKeys {
  const ecdh = createECDH('prime256v1')
  const p256dh = ecdh.generateKeys().toString('base64url')
  return { p256dh, auth: randomBytes(16).toString('base64url'), privateKey: ecdh.getPrivateKey() }
}

/** Decrypts a message as a browser does: RFC 8291. Written from the receiver's side, apart from the product's code. */
export function decryptPush(body: Uint8Array, { p256dh, auth, privateKey }: BrowserKeys): string {
  const bytes = Buffer.from(body)
  const salt = bytes.subarray(0, 16)
  const keyLength = bytes.readUInt8(20)
  const sender = bytes.subarray(21, 21 + keyLength)
  const record = bytes.subarray(21 + keyLength)
  const ecdh = createECDH('prime256v1')
  ecdh.setPrivateKey(privateKey)
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), Buffer.from(p256dh, 'base64url'), sender])
  const material = hkdfSync('sha256', ecdh.computeSecret(sender), Buffer.from(auth, 'base64url'), info, 32)
  const key = new Uint8Array(hkdfSync('sha256', new Uint8Array(material), salt, 'Content-Encoding: aes128gcm\0', 16))
  const nonce = new Uint8Array(hkdfSync('sha256', new Uint8Array(material), salt, 'Content-Encoding: nonce\0', 12))
  const decipher = createDecipheriv('aes-128-gcm', key, nonce)
  decipher.setAuthTag(record.subarray(-16))
  const padded = Buffer.concat([decipher.update(record.subarray(0, -16)), decipher.final()])
  const end = padded.lastIndexOf(2)
  if (padded.subarray(end + 1).some((byte) => byte !== 0)) throw new Error('the padding is not of zeroes')
  return padded.subarray(0, end).toString()
}

/** A message as it came to a push service, and what its browser reads. */
export interface PushedMessage {
  path: string
  headers: IncomingHttpHeaders
  // biome-ignore lint/suspicious/noExplicitAny: tests look into messages of every shape
  data: any
}

/** A push service on loopback with the browsers that subscribe at it. */
export interface PushService extends AsyncDisposable {
  readonly port: number
  /** Makes a subscription as a browser has it. */
  subscribe(): { endpoint: string; keys: { p256dh: string; auth: string } }
  /** In the order of arrival. */
  readonly messages: readonly PushedMessage[]
  /** `show <title>` and `withdraw` of the messages to one endpoint, or to all of them. */
  said(endpoint?: string): string[]
}

/** @param answer How each message is answered. Default: 201. */
export async function startPushService(
  answer: (response: ServerResponse, path: string) => unknown = (response) => response.writeHead(201).end(),
): Promise<PushService> {
  const browsers = new Map<string, BrowserKeys>()
  const messages: PushedMessage[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const path = request.url ?? ''
    const browser = browsers.get(path)
    if (!browser || request.method !== 'POST') return response.writeHead(404).end()
    messages.push({ path, headers: request.headers, data: JSON.parse(decryptPush(Buffer.concat(chunks), browser)) })
    await answer(response, path)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    messages,
    subscribe() {
      const path = `/push/${randomBytes(12).toString('base64url')}`
      const browser = browserKeys()
      browsers.set(path, browser)
      return { endpoint: `http://127.0.0.1:${port}${path}`, keys: { p256dh: browser.p256dh, auth: browser.auth } }
    },
    said: (endpoint) =>
      messages
        .filter(({ path }) => endpoint === undefined || endpoint.endsWith(path))
        .map(({ data }) => (data.withdraw ? 'withdraw' : `show ${data.show.title}`)),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
