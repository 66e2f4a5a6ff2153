import { type FocusEvent, type KeyboardEvent, type RefObject, useCallback, useId, useRef } from 'react'
import type { ApprovalCardStore, LoadedCard } from './card/create-approval-card.ts'
import type { Rest } from './card-button.tsx'
import { readCardKey } from './card-keys.ts'
import { isSettled } from './card-parts.ts'
import type { ApprovalCardProps } from './card-props.ts'
import { tickMs } from './time.ts'
import { useCooldown } from './use-cooldown.ts'
import { noteTyping } from './use-keep-focus.ts'
import { type Seen, useSeen } from './use-seen.ts'
import { useTick } from './use-tick.ts'

/** State shared by the parts of one card: its view, its callbacks and its focus targets. */
export type CardView = {
  props: ApprovalCardProps
  shown: LoadedCard
  store: ApprovalCardStore
  nowMs: number
  /** The action needs no further decision: one line says its outcome. */
  isSettled: boolean
  /** Prefix of the ids of this card's elements. */
  id: string
  card: RefObject<HTMLElement | null>
  /** The row of buttons: a press counts only where it has stood for 500 ms. */
  row: RefObject<HTMLDivElement | null>
  /** Why the buttons cannot be pressed now; empty when they can. */
  resting: Rest
  /** Says that the last press was ignored; empty otherwise. */
  ignored: string
  /** Runs `work` unless this press does not count. */
  press: (work: () => void, by?: 'pointer' | 'key') => void
  focusCard: () => void
  /** Whether the buttons may be shown: on a narrow screen, not before the headline and the changes. */
  seen: Seen
}

/** Connects the logic of a card to the page: time, focus, and the guard against presses that were aimed at something else. */
export function useCardView(props: ApprovalCardProps, shown: LoadedCard, store: ApprovalCardStore): CardView {
  const { action, version, refusal, canDecide, edits, evidence } = shown
  const card = useRef<HTMLElement>(null)
  const row = useRef<HTMLDivElement>(null)
  const id = useId()
  const nowMs = (props.now ?? Date.now)()
  useTick(tickMs(action, nowMs))
  // Evidence that arrives later has to be seen as well.
  const seen = useSeen(card, version, evidence)
  const stand = `${version} ${action.state} ${action.attempt} ${refusal} ${canDecide} ${seen.isSeen} ${evidence} ${JSON.stringify(edits)}`
  const { rest, isReady, ignored } = useCooldown(row, stand)
  const focusCard = useCallback(() => card.current?.focus({ preventScroll: true }), [])
  const resting = shown.rest || rest
  const press = (work: () => void, by: 'pointer' | 'key' = 'pointer') => {
    if (shown.rest === '' && isReady(by)) work()
  }
  return { props, shown, store, nowMs, isSettled: isSettled(action), id, card, row, resting, ignored, press, focusCard, seen }
}

/** Handles the keys inside a card. */
export function cardKeys({ props, shown, store, press, focusCard }: CardView) {
  const isArmed = shown.state === 'armed'
  const arm = () => {
    store.arm()
    if (store.get().state === 'armed') focusCard()
  }
  return {
    // Its forms keep the keys that send or leave them for themselves.
    onKeyDownCapture: noteTyping,
    onKeyDown: (event: KeyboardEvent<HTMLElement>) => {
      if (!shown.canDecide) return
      const key = readCardKey(event, isArmed, props.shortcuts ?? true)
      if (key === undefined) return
      event.preventDefault()
      if (key === 'arm') press(arm, 'key')
      else if (key === 'decline') press(() => store.openDecline(), 'key')
      else store.back()
      if (key === 'commit') press(() => store.approve(), 'key')
    },
    onFocus: (event: FocusEvent<HTMLElement>) => {
      noteTyping()
      // While armed, Enter approves on the card alone; on a control inside it, it keeps its own meaning.
      if (isArmed && event.target !== event.currentTarget) store.back()
    },
  }
}
