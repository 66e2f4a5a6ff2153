import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { startTestServer } from '../../../../verification/testing/test-server.ts'

test('what is not a request, or has too long a head, is answered with a problem document', async () => {
  await using server = await startTestServer({ config: {} })
  const { port } = new URL(server.url)
  const send = async (bytes: string | Buffer) => {
    const socket = connect(Number(port), '127.0.0.1').setEncoding('utf8')
    socket.write(bytes)
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n')
    expect(head).toContain('content-type: application/problem+json')
    return { status: Number(head.split(' ')[1]), problem: JSON.parse(body) }
  }
  const long = 'a'.repeat(20_000)
  for (const head of [`GET /api/actions HTTP/1.1\r\nhost: x\r\nx: ${long}`, `GET /api/actions?q=${long} HTTP/1.1\r\nhost: x`]) {
    expect(await send(`${head}\r\n\r\n`)).toMatchObject({ status: 431, problem: { status: 431, code: 'too_large' } })
  }
  const strange = [
    'FOO /api/actions HTTP/1.1\r\nhost: x\r\n\r\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    Buffer.from('1603010200010001fc0303', 'hex'),
    'POST /api/actions HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    'POST /api/actions HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ncontent-length: 5\r\n\r\n{}',
  ]
  for (const bytes of strange) {
    expect(await send(bytes)).toMatchObject({ status: 400, problem: { status: 400, code: 'bad_request', detail: expect.any(String) } })
  }
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
})
