import { expect, test } from 'vitest'
import { createPeers, type Peers } from './peers.ts'

const MINUTE_MS = 60_000

function open() {
  let nowMs = 0
  let appeared = 0
  const peers = createPeers({ steadyMs: () => nowMs })
  peers.onAppear(() => appeared++)
  const wait = (ms: number) => {
    nowMs += ms
  }
  return { peers, wait, appeared: () => appeared }
}

const look = (peers: Peers, isThere: boolean) => {
  peers.look()(isThere)
  return peers.mayExist
}

test('a process is alone only when the rows say so and nothing was heard or missed since they were read', () => {
  for (const happen of ['hear', 'miss'] as const) {
    const { peers } = open()
    expect(peers.mayExist).toBe(true)
    expect(look(peers, false)).toBe(false)
    const answer = peers.look()
    peers[happen]()
    answer(false)
    expect(peers.mayExist).toBe(true)
  }
})

test('a process that may only have lost its connection is told of everything for another minute', () => {
  const { peers, wait } = open()
  expect(look(peers, true)).toBe(true)
  wait(MINUTE_MS - 1)
  expect(look(peers, false)).toBe(true)
  wait(1)
  expect(look(peers, false)).toBe(false)
})

test('a process that appears is told everything once', () => {
  const { peers, appeared } = open()
  look(peers, true)
  expect(appeared()).toBe(0)
  const alone = open()
  look(alone.peers, false)
  look(alone.peers, true)
  alone.peers.hear()
  look(alone.peers, true)
  expect(alone.appeared()).toBe(1)
})
