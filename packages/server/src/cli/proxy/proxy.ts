import type { Readable, Writable } from 'node:stream'
import { isObject } from '@countersign/core/text'
import { byteLines } from './byte-lines.ts'
import { isAnswer, keyOf, lineOf, readMessage } from './messages.ts'
import { createPermissions, type PermissionDeps } from './permissions.ts'

/** Two programs that talk over lines of JSON. */
export interface ProxyEnds {
  editor: { from: Readable; to: Writable }
  agent: { from: Readable; to: Writable }
}

export interface Proxy {
  /** Resolves when the editor has closed its side, and all of it was passed on. */
  editorEnded: Promise<void>
  /** Resolves when the agent has closed its side, and all of it was passed on. */
  agentEnded: Promise<void>
  /** Closes what is open on the server. */
  end(): Promise<void>
}

/**
 * Passes every line on as it came, both ways. Permission requests also go to Countersign, and the answer that comes second is dropped.
 */
export function openProxy({ editor, agent }: ProxyEnds, deps: Pick<PermissionDeps, 'dialect' | 'post' | 'complain' | 'againMs'>): Proxy {
  const { dialect } = deps
  const permissions = createPermissions({
    ...deps,
    toAgent: (line) => void agent.to.write(line),
    toEditor: (line) => void editor.to.write(line),
  })

  async function fromAgent(): Promise<void> {
    for await (const line of byteLines(agent.from)) {
      const message = readMessage(line)
      if (Array.isArray(message) && message.some((one) => dialect.isAsk(one))) {
        deps.complain('the agent asked for permission in a batch, which the protocol does not have: refused')
        for (const one of message) if (dialect.isAsk(one)) agent.to.write(lineOf(dialect.answer(one, false)))
        continue
      }
      if (dialect.isAsk(message)) {
        permissions.ask(message, line)
        continue
      }
      if (isObject(message)) {
        if (message.method !== undefined && message.id !== undefined) permissions.useAnew(keyOf(message.id))
        for (const call of dialect.fromAgent(message)) permissions.changed(call)
        const takenBack = dialect.takesBack(message)
        if (takenBack !== undefined) permissions.cancel(keyOf(takenBack))
        for (const ended of dialect.ended(message)) permissions.report(ended)
      }
      await write(editor.to, line)
    }
  }

  async function fromEditor(): Promise<void> {
    for await (const line of byteLines(editor.from)) {
      const message = readMessage(line)
      if (isObject(message)) {
        dialect.fromEditor(message)
        if (isAnswer(message) && permissions.answer(message, line)) continue
      }
      await write(agent.to, line)
    }
  }

  return { editorEnded: fromEditor(), agentEnded: fromAgent(), end: permissions.end }
}

/** Waits for a reader that is slower. */
async function write(to: Writable, line: Buffer): Promise<void> {
  if (to.destroyed || to.write(line)) return
  await new Promise<void>((resolve) => {
    const done = () => {
      to.off('drain', done).off('close', done).off('error', done)
      resolve()
    }
    to.on('drain', done).on('close', done).on('error', done)
  })
}
