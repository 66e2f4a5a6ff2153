// The brain: it decides what should happen, for whom it is told, and does nothing itself. It answers only requests that carry its key.
import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

const { BRAIN_KEY, BRAIN_PORT = '4451' } = process.env
if (!BRAIN_KEY) throw new Error('set BRAIN_KEY to the secret that Countersign sends')

const digest = (text) => createHash('sha256').update(text).digest()
const isCountersign = ({ headers: { authorization = '' } }) => timingSafeEqual(digest(authorization), digest(`Bearer ${BRAIN_KEY}`))

/** One proposal for each message of a person; after its result, a sentence. */
function think({ messages, user, agent, session }) {
  const last = messages.at(-1)
  if (last.role === 'tool') {
    const { denied, reason, id } = JSON.parse(last.content)
    const delta = denied ? `Then not, ${user.name}: ${reason}` : `Done, ${user.name}: ${id} is on the list.`
    return [
      { type: 'text-delta', delta },
      { type: 'finish', finishReason: 'stop' },
    ]
  }
  const input = { title: last.content, owner: user.name, period: '2026-Q4' }
  return [
    { type: 'text-delta', delta: `${user.name}, ${agent.name} proposes this in ${session.id}.` },
    { type: 'require-action', toolCallId: `call_${messages.length}`, toolName: 'goals_createObjective', input },
    { type: 'finish', finishReason: 'tool-calls' },
  ]
}

const server = createServer(async (request, response) => {
  if (!isCountersign(request)) return response.writeHead(401, { 'content-type': 'text/plain' }).end('this brain answers Countersign only')
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of think(JSON.parse(text))) response.write(`data: ${JSON.stringify(event)}\n\n`)
  response.end()
})
server.listen(Number(BRAIN_PORT), '127.0.0.1', () => console.log(`The brain is at http://127.0.0.1:${server.address().port}`))
