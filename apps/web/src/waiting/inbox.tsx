import type { Action, ConnectionState } from '@countersign/client'
import { lazy, memo, type ReactNode, useCallback, useDeferredValue, useMemo, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { useNavigate } from 'react-router'
import { AssignDialog } from '../assign/assign-button.tsx'
import { BulkTaskDialog, OutcomeNotice } from '../bulk/bulk-task-dialog.tsx'
import { ChosenBar } from '../bulk/chosen-bar.tsx'
import { countText } from '../bulk/outcome.ts'
import { shapeKey } from '../bulk/shape.ts'
import { type BulkTask, useBulk } from '../bulk/use-bulk.ts'
import { useChosen } from '../bulk/use-chosen.ts'
import { useOffer } from '../palette/commands.tsx'
import { Boundary } from '../shell/boundary.tsx'
import { SnoozeDialog } from '../snooze/snooze-button.tsx'
import { Icon, useMediaQuery } from '../ui/index.ts'
import { cardIn, openEdit, pressOn } from './card-in.ts'
import type { Grouping, Line } from './groups.ts'
import { type InboxKeys, useInboxKeys } from './inbox-keys.ts'
import { EmptyPane, LazyPane, WIDE } from './lazy-pane.tsx'
import { leavePlace } from './place.ts'
import { ReadOlder } from './read-older.tsx'
import { focusRow, RowList } from './row-list.tsx'
import type { Folds } from './use-folds.ts'
import { useLines } from './use-lines.ts'
import type { Rows } from './use-rows.ts'
import { useSelection } from './use-selection.ts'
import { needsPerson, type View } from './views.ts'

type InboxProps = {
  of: Rows
  view: View
  connection: ConnectionState
  grouping: Grouping | undefined
  folds: Folds
  /** The row to begin with: where somebody left the inbox. */
  firstId: string | undefined
  /** Shown instead of an empty list. */
  empty: ReactNode
}

const GroupPane = lazy(() => import('./group-pane.tsx'))
const idOf = (action: Action) => action.id
/** The entries of the command palette while rows are chosen. */
const offersFor = (chosen: number, ask: (task: BulkTask) => void) => [
  { name: `Snooze ${countText(chosen)}`, run: () => ask('snooze') },
  { name: `Assign ${countText(chosen)}`, run: () => ask('assign') },
]
const NONE: ReadonlySet<string> = new Set()

function actionsOf(lines: readonly Line[], kept: Action | undefined): readonly Action[] {
  const actions: Action[] = []
  for (const { action } of lines) if (action) actions.push(action)
  if (kept) actions.push(kept)
  return actions
}

/** Returns the actions of the same shape as one of them. */
function alikeOf(actions: readonly Action[], one: Action | undefined): readonly Action[] {
  if (!one) return []
  const key = shapeKey(one)
  return actions.filter((action) => shapeKey(action) === key)
}

/** The list and, where there is room, the card of the selected row. Nothing in it moves under a pointer, the focus or a finger. */
export const Inbox = memo(function Inbox({
  of: { rows, isReading, readMore, failure },
  view,
  connection,
  grouping,
  folds,
  firstId,
  empty,
}: InboxProps) {
  const isWide = useMediaQuery(WIDE)
  // The rows come first, the card is drawn after them.
  const hasRows = useDeferredValue(true, false)
  const [isScrolled, setScrolled] = useState(false)
  // Decided rows that were there when the list was refreshed, and that the inbox itself forgets only seconds later.
  const [dropped, setDropped] = useState<ReadonlySet<string>>(NONE)
  const current = useMemo(
    () => (dropped.size === 0 ? rows : rows.filter((action) => !dropped.has(action.id) || needsPerson(action))),
    [rows, dropped],
  )
  const { lines, groups, shown: unfolded, fresh, gone, apply, hold } = useLines(current, { grouping, folds, isScrolled })
  const { shown, at, kept, pick, unpick } = useSelection(unfolded, lines, firstId)
  const actions = useMemo(() => actionsOf(lines, kept), [lines, kept])
  const line = shown[at]
  const selected = line?.action
  const group = line && !line.action ? groups.get(line.groupId) : undefined
  const choice = useChosen(actions)
  // An empty list has no row: then the heading of the page.
  const bulk = useBulk(choice, () => focusRow() || document.querySelector<HTMLElement>('h1')?.focus())
  const selectable = useMemo(() => actions.filter(needsPerson), [actions])
  const alike = useMemo(() => alikeOf(selectable, selected), [selectable, selected])
  const likeChosen = useMemo(
    () => alikeOf(selectable, choice.chosen.length === 1 ? choice.chosen[0] : undefined),
    [choice.chosen, selectable],
  )
  // A state, not a ref: the rows inside are drawn once it is there.
  const [box, setBox] = useState<HTMLDivElement | null>(null)
  const [asking, setAsking] = useState<{ what: 'snooze' | 'assign'; action: Action }>()
  const pane = useRef<HTMLElement>(null)
  // A tablet that is turned keeps the card that was shown, with what is typed on it: `.inbox-pane` is hidden where there is no room.
  const drawnId = useRef<string>(undefined)
  if (isWide) drawnId.current = selected?.id
  else if (drawnId.current !== selected?.id) drawnId.current = undefined
  const wantsFocus = useRef(firstId !== undefined)
  const navigate = useNavigate()
  const updates = gone + Number(kept !== undefined)
  // The answer of a decision may come when other rows are shown, or another one is selected.
  const latest = useRef({ shown, at })
  latest.current = { shown, at }

  function select(to: number) {
    const { shown } = latest.current
    const next = shown[Math.min(shown.length - 1, Math.max(0, to))]
    if (!next) return
    wantsFocus.current = true
    flushSync(() => pick(next.id))
    // Where it was selected already nothing was drawn, and no later drawing may take the focus.
    wantsFocus.current = !focusRow()
  }

  function fold(groupId: string) {
    wantsFocus.current = true
    flushSync(() => {
      pick(groupId)
      folds.toggle(groupId)
    })
  }

  function open(id: string | undefined) {
    if (id === undefined) return
    if (isWide) return void cardIn(pane.current)?.focus()
    leavePlace(id)
    navigate(`/actions/${id}`, { state: { inbox: window.location.search } })
  }

  function onPick(id: string) {
    pick(id)
    if (!isWide) open(id)
  }

  function letIn() {
    const decided = view === 'decided' ? NONE : new Set(rows.filter((action) => !needsPerson(action)).map(idOf))
    flushSync(() => {
      unpick()
      setDropped(decided)
      apply(rows.filter(({ id }) => !decided.has(id)))
    })
    if (box) box.scrollTop = 0
    // The pill had the focus and was removed, so the focus moves to the first row.
    focusRow()
  }

  /** After a decision by key the next one that needs a person is selected, never after a click: its buttons must not come under the pointer. */
  function selectNext(decidedId: string) {
    const { shown, at } = latest.current
    if (shown[at]?.action?.id !== decidedId) return
    if (!pane.current?.querySelector(':focus-visible')) return
    const isNext = ({ action }: Line) => action !== undefined && needsPerson(action)
    const below = shown.findIndex((line, to) => to > at && isNext(line))
    const next = below >= 0 ? below : shown.findLastIndex((line, to) => to < at && isNext(line))
    if (next >= 0) select(next)
  }

  /** On a narrow screen the card is a page of its own: people see what they decide before they do. */
  const onCard = (act: (card: HTMLElement) => void) => {
    const card = isWide ? cardIn(pane.current) : null
    if (card) act(card)
    else open(selected?.id)
  }
  const ask = (what: 'snooze' | 'assign') => selected && needsPerson(selected) && setAsking({ what, action: selected })
  const askOfGroup = (task: BulkTask) => bulk.ask(task, group?.open)
  const askFor = (what: 'snooze' | 'assign') => (choice.chosen.length > 0 ? bulk.ask(what) : group ? askOfGroup(what) : ask(what))
  const isOffline = connection.kind !== 'live'
  const keys: InboxKeys = {
    move: (by) => select(at + by),
    open: () => (group ? fold(group.id) : open(selected?.id)),
    press: (key) => {
      const isMany = choice.chosen.length > 0
      if (!isMany && !group) return onCard((card) => pressOn(card, key))
      // Opens the preview of what is chosen, as the buttons do: no key decides about many.
      if (!isOffline) (isMany ? bulk.ask : askOfGroup)(key === 'a' ? 'approve' : 'decline')
    },
    edit: () => onCard(openEdit),
    choose: () => (group ? choice.toggleAll(group.open) : selected && choice.toggle(selected.id)),
    chooseAlike: () => choice.choose(group?.open ?? alike),
    snooze: () => askFor('snooze'),
    assign: () => askFor('assign'),
    back: () => select(at),
  }
  useInboxKeys(keys)
  useOffer(choice.chosen.length === 0 ? [] : offersFor(choice.chosen.length, bulk.ask))
  const AskDialog = asking?.what === 'assign' ? AssignDialog : SnoozeDialog
  const canRead = readMore !== undefined && failure === null
  const onEnd = useCallback(() => {
    if (canRead) readMore?.()
    return canRead
  }, [canRead, readMore])

  // A row that somebody else decided keeps its place even when it was the last one, so this is asked of what is shown.
  const isEmpty = shown.length === 0 && !isReading
  if (isEmpty && !bulk.outcome) return empty
  return (
    <div {...hold} className="inbox-frame">
      <div className="inbox-list">
        {fresh + updates > 0 && <LetIn fresh={fresh} updates={updates} onClick={letIn} />}
        <div className="inbox-scroll" ref={setBox} onScroll={({ currentTarget }) => setScrolled(currentTarget.scrollTop > 0)}>
          {isEmpty ? (
            empty
          ) : (
            <RowList
              lines={shown}
              groups={groups}
              selectedAt={at}
              isGrouped={grouping !== undefined}
              folds={folds}
              chosenIds={choice.ids}
              box={box}
              wantsFocus={wantsFocus}
              onMove={keys.move}
              onPick={onPick}
              onChoose={choice.toggle}
              onChooseGroup={({ open }) => choice.toggleAll(open)}
              onFold={fold}
              onOpen={keys.open}
              onEnd={onEnd}
            />
          )}
          {(readMore || isReading) && <ReadOlder isReading={isReading} onRead={readMore} />}
        </div>
        <div role="status" className="bulk-said">
          {bulk.outcome && (
            <Boundary>
              <OutcomeNotice outcome={bulk.outcome} onClose={bulk.dismiss} />
            </Boundary>
          )}
        </div>
        <ChosenBar
          chosen={choice.chosen}
          of={selectable.length}
          alike={likeChosen.length}
          isOffline={isOffline}
          onChooseAll={() => bulk.keepFocus(() => choice.choose(selectable))}
          onChooseAlike={() => bulk.keepFocus(() => choice.choose(likeChosen))}
          onClear={() => bulk.keepFocus(choice.clear)}
          onAsk={bulk.ask}
        />
      </div>
      {isWide && selected && !hasRows && <EmptyPane />}
      {drawnId.current !== undefined && selected && hasRows && (
        <LazyPane
          key={selected.id}
          known={selected}
          place={`${(actions.indexOf(selected) + 1).toLocaleString('en')} of ${actions.length.toLocaleString('en')}`}
          alike={alike.length}
          onChooseAlike={keys.chooseAlike}
          onSnooze={() => ask('snooze')}
          onAssign={() => ask('assign')}
          connection={connection}
          pane={pane}
          onSettled={() => selectNext(selected.id)}
        />
      )}
      {isWide && group && (
        <Boundary fallback={<EmptyPane />}>
          <GroupPane group={group} connection={connection} onAsk={askOfGroup} />
        </Boundary>
      )}
      {asking && (
        <Boundary>
          <AskDialog key={asking.action.id} action={asking.action} onClose={() => setAsking(undefined)} />
        </Boundary>
      )}
      {bulk.asking && <BulkTaskDialog {...bulk.asking} onClose={bulk.close} onDone={bulk.finish} />}
    </div>
  )
})

/** Says what waits to be let in, and lets it in. */
const LetIn = ({ fresh, updates, onClick }: { fresh: number; updates: number; onClick: () => void }) => (
  <div className="floating">
    <button type="button" className="pill" onClick={onClick} data-testid="waiting-fresh">
      <Icon name="refresh" size={14} />
      {fresh > 0 ? `${fresh} new` : `${updates} ${updates === 1 ? 'update' : 'updates'}`}
    </button>
  </div>
)
