import type { RecordedApi } from './recordings.ts'

type Item = Record<string, unknown>

/**
 * Returns what the strictest of an API's providers would refuse in a request's history: a call without its result or with two, a result in
 * the wrong place or without a call, ids that repeat or have letters that the API does not accept, arguments that are not an object,
 * reasoning that cannot be verified.
 * @returns A sentence for each problem; empty for a valid history.
 */
export function historyProblems(api: RecordedApi, body: unknown): string[] {
  const request = body as Item
  switch (api) {
    case 'openai-chat':
      return chatProblems(items(request.messages))
    case 'openai-responses':
      return [...(request.store === false ? [] : ['store is not false']), ...responsesProblems(items(request.input))]
    case 'anthropic-messages':
      return anthropicProblems(items(request.messages))
    case 'google-generateContent':
      return geminiProblems(items(request.contents))
  }
}

/** Returns how many calls with their results a history has, so that a test can be sure that there was something to check. */
export function countCalls(api: RecordedApi, body: unknown): number {
  const request = body as Item
  switch (api) {
    case 'openai-chat':
      return items(request.messages).flatMap((message) => items(message.tool_calls)).length
    case 'openai-responses':
      return items(request.input).filter((item) => item.type === 'function_call').length
    case 'anthropic-messages':
      return items(request.messages).flatMap((message) => items(message.content).filter((block) => block.type === 'tool_use')).length
    case 'google-generateContent':
      return items(request.contents).flatMap((content) => items(content.parts).filter((part) => part.functionCall)).length
  }
}

function chatProblems(messages: Item[]): string[] {
  const problems = new Problems()
  let open: string[] = []
  for (const message of messages) {
    if (message.role === 'tool') {
      open = problems.close(open, message.tool_call_id)
      problems.check(typeof message.content === 'string', 'a tool message without text')
      continue
    }
    problems.none(open, 'a message stands before the results of')
    open = []
    if (message.role !== 'assistant') {
      problems.check(typeof message.content === 'string' && message.content !== '', `an empty ${message.role} message`)
      continue
    }
    const calls = items(message.tool_calls)
    problems.check(
      calls.length > 0 || (typeof message.content === 'string' && message.content !== ''),
      'an assistant message that says nothing',
    )
    for (const call of calls) {
      problems.open(call.id, /^[a-zA-Z0-9_-]{1,40}$/)
      problems.argumentsText((call.function as Item).arguments)
      open.push(String(call.id))
    }
  }
  problems.none(open, 'the history ends before the results of')
  return problems.found
}

/** The content types of a call's output, besides plain text. */
const CONTENT: ReadonlySet<string> = new Set(['input_text', 'input_image', 'input_file'])

// DeepSeek's Responses API refuses outputs between calls: all calls of a step, then all their outputs, then anything else.
function responsesProblems(input: Item[]): string[] {
  const problems = new Problems()
  let open: string[] = []
  let answering = false
  let reasoning = false
  for (const item of input) {
    problems.check(item.type !== 'item_reference', 'a reference to something the provider should have stored')
    if (item.type === 'function_call_output') {
      problems.check(!reasoning, 'reasoning without what it led to')
      open = problems.close(open, item.call_id)
      answering = true
      const isContent =
        Array.isArray(item.output) && item.output.length > 0 && items(item.output).every(({ type }) => CONTENT.has(String(type)))
      problems.check(typeof item.output === 'string' || isContent, 'an output without text')
      continue
    }
    if (answering || item.type !== 'function_call') problems.none(open, 'an item stands before the outputs of')
    if (answering) open = []
    answering = false
    if (item.type === 'function_call') {
      problems.open(item.call_id, /^[a-zA-Z0-9_-]{1,64}$/)
      problems.argumentsText(item.arguments)
      open.push(String(item.call_id))
    }
    if (item.type === 'reasoning') problems.check(typeof item.encrypted_content === 'string', 'reasoning without its encrypted content')
    if (item.role === 'user') problems.check(!reasoning, 'reasoning without what it led to')
    reasoning = item.type === 'reasoning'
  }
  problems.none(open, 'the history ends before the outputs of')
  return problems.found
}

// The provider's own calls (server_tool_use) may wait for their results until ours are in, so they are not counted.
function anthropicProblems(messages: Item[]): string[] {
  const problems = new Problems()
  let open: string[] = []
  for (const [index, message] of messages.entries()) {
    problems.check(message.role === (index % 2 === 0 ? 'user' : 'assistant'), `message ${index + 1} is of the ${message.role}`)
    const blocks = items(message.content)
    problems.check(blocks.length > 0, 'a message without content')
    let begun = false
    for (const block of blocks) {
      const isThinking = block.type === 'thinking' || block.type === 'redacted_thinking'
      if (block.type === 'tool_result') {
        problems.check(!begun, 'a result behind other content')
        open = problems.close(open, block.tool_use_id)
        continue
      }
      if (block.type === 'text') problems.check(typeof block.text === 'string' && block.text.trim() !== '', 'an empty text')
      if (block.type === 'thinking') problems.check(typeof block.signature === 'string', 'thinking without its signature')
      if (block.type === 'tool_use') {
        problems.open(block.id, /^[a-zA-Z0-9_-]+$/)
        problems.check(typeof block.input === 'object' && block.input !== null, 'an input that is no object')
        open.push(String(block.id))
      }
      begun ||= !isThinking
    }
    if (message.role === 'user') problems.none(open, 'the user message has no results of')
  }
  problems.check(messages.at(-1)?.role === 'user', 'the last message is not of the user')
  return problems.found
}

function geminiProblems(contents: Item[]): string[] {
  const problems = new Problems()
  let open: Item[] = []
  for (const content of contents) {
    const parts = items(content.parts)
    problems.check(parts.length > 0, 'a content without parts')
    const responses = parts.flatMap((part) => (part.functionResponse ? [part.functionResponse as Item] : []))
    problems.check(open.length === responses.length, `${responses.length} responses for ${open.length} calls`)
    for (const [index, response] of responses.entries()) {
      const call = open[index]
      problems.check(call?.id === response.id && call?.name === response.name, `response ${String(response.id)} is not that of its call`)
      problems.check(typeof response.response === 'object', 'a response that is no object')
    }
    open = parts.flatMap((part) => (part.functionCall ? [part.functionCall as Item] : []))
    for (const call of open) {
      problems.open(call.id, /^[a-zA-Z0-9_-]+$/)
      problems.check(typeof call.args === 'object' && call.args !== null, 'args that are no object')
    }
    problems.check(open.length === 0 || content.role === 'model', 'a call that is not of the model')
  }
  problems.check(open.length === 0, 'the history ends before the responses')
  problems.check(contents.at(-1)?.role === 'user', 'the last content is not of the user')
  return problems.found
}

class Problems {
  readonly found: string[] = []
  readonly #seen = new Set<unknown>()

  check(holds: boolean, problem: string): void {
    if (!holds) this.found.push(problem)
  }

  none(open: readonly string[], problem: string): void {
    if (open.length > 0) this.found.push(`${problem} ${open.join(', ')}`)
  }

  open(id: unknown, allowed: RegExp): void {
    this.check(typeof id === 'string' && allowed.test(id), `the id ${String(id)} is not allowed`)
    this.check(!this.#seen.has(id), `the id ${String(id)} is used twice`)
    this.#seen.add(id)
  }

  close(open: readonly string[], id: unknown): string[] {
    this.check(open.includes(String(id)), `a result for ${String(id)}, which is not open`)
    return open.filter((each) => each !== id)
  }

  argumentsText(text: unknown): void {
    let value: unknown
    try {
      value = JSON.parse(String(text))
    } catch {
      value = undefined
    }
    this.check(typeof value === 'object' && value !== null && !Array.isArray(value), `arguments that are no object: ${String(text)}`)
  }
}

const items = (value: unknown): Item[] => (Array.isArray(value) ? (value as Item[]) : [])
