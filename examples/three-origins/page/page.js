// Talks to Countersign at another origin with a key, which stays in this page's memory. No cookie is sent, and none is needed.
// Not awaited here: a form that is sent before it has its handler leaves the page.
const where = fetch('where.json').then((answer) => answer.json())
const byId = (id) => document.getElementById(id)

async function call(path, body) {
  const { countersign } = await where
  return fetch(countersign + path, {
    method: body ? 'POST' : 'GET',
    credentials: 'omit',
    headers: { authorization: `Bearer ${byId('key').value}`, ...(body && { 'content-type': 'application/json' }) },
    body: body && JSON.stringify(body),
  })
}

/** The events of a stream. `EventSource` cannot send a key, `fetch` can. */
async function* eventsOf(response) {
  let text = ''
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const frames = (text + chunk).split('\n\n')
    text = frames.pop()
    for (const frame of frames) {
      const type = /^event: (.*)$/m.exec(frame)?.[1]
      if (type) yield { type, data: JSON.parse(/^data: (.*)$/m.exec(frame)[1]) }
    }
  }
}

// Text only: whatever a model or a tool says is never markup here.
function show(text) {
  const line = document.createElement('li')
  line.textContent = text
  byId('log').append(line)
  return line
}

function showCard(action) {
  const line = show(`${action.description} `)
  for (const verdict of ['approve', 'decline']) {
    const button = document.createElement('button')
    button.textContent = verdict === 'approve' ? 'Approve' : 'Decline'
    button.onclick = async () => {
      const { id, revision, digest } = action
      const answer = await call(`/api/actions/${id}/decision`, { verdict, revision, digest })
      if (!answer.ok) byId('trouble').textContent = (await answer.json()).detail
    }
    line.append(button)
  }
}

byId('ask').onsubmit = async (event) => {
  event.preventDefault()
  byId('trouble').textContent = ''
  const answer = await call('/api/chat', { message: byId('text').value })
  if (!answer.ok) {
    byId('trouble').textContent = (await answer.json()).detail
    return
  }
  for await (const { type, data } of eventsOf(answer)) {
    if (type === 'action_proposed' && data.proposal.state === 'proposed') showCard(data.proposal)
    if (type === 'action_update') show(data.state)
    if (type === 'message' && data.message.role === 'assistant' && data.message.content) show(data.message.content)
  }
}
