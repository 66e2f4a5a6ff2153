import type { Client } from '@countersign/client'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import type { CardCallbacks } from '../card/card-inputs.ts'
import { ADA, sampleAction } from '../testing/actions.ts'
import { useDecision } from './use-decision.ts'

const UNKNOWN = sampleAction({ state: 'outcome_unknown', attempt: 2 })

/** Tells what a card of the action would be given. */
function Card({ client, onGiven }: { client: Client; onGiven(callbacks: CardCallbacks): void }) {
  onGiven(useDecision(client, UNKNOWN, ADA))
  return null
}

test('what a person says of an unknown outcome is about the attempt that they saw', () => {
  const resolved: unknown[] = []
  const client = { actions: { resolve: (...args: unknown[]) => resolved.push(args) } } as unknown as Client
  renderToStaticMarkup(createElement(Card, { client, onGiven: ({ onResolve }) => onResolve?.('succeeded', 'The bank shows it.') }))
  expect(resolved).toEqual([[UNKNOWN.id, { outcome: 'succeeded', note: 'The bank shows it.', attempt: 2 }]])
})

test('what a person says of an attempt that they began with stays about that one', () => {
  const resolved: unknown[] = []
  const client = { actions: { resolve: (...args: unknown[]) => resolved.push(args) } } as unknown as Client
  renderToStaticMarkup(createElement(Card, { client, onGiven: ({ onResolve }) => onResolve?.('failed', 'Not in the bank.', 1) }))
  expect(resolved).toEqual([[UNKNOWN.id, { outcome: 'failed', note: 'Not in the bank.', attempt: 1 }]])
})
