import type { Action, GrantSuggestion, Remember } from '@countersign/client'
import { type ReactNode, useEffect, useId, useState } from 'react'
import { CardButton, type Rest } from './card-button.tsx'
import { showInvisible } from './show-text.ts'

const TIMES = { PT1H: '1 hour', PT8H: '8 hours', P1D: '1 day', P7D: '7 days', P30D: '30 days' } as const

type RememberProps = {
  action: Action
  onSuggest: () => Promise<GrantSuggestion>
  /** Why nothing can be approved now; empty when it can. */
  resting: Rest
  /** The person wants this granted; the card asks once more. */
  onChoose: (terms: Remember, words: string) => void
}

/** "Don't ask again": closed at first, with the literal rule and what it would have answered. These controls have no keyboard shortcut. */
export function RememberSection(props: RememberProps) {
  const [open, setOpen] = useState(false)
  return (
    <details className="cs-remember" open={open} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        Don’t ask again <span className="cs-note">for calls like this one</span>
      </summary>
      {open ? <Terms {...props} /> : null}
    </details>
  )
}

function Terms(props: RememberProps) {
  const { action } = props
  const found = useSuggestion(props)
  if (found === 'failed') return <p role="alert">The possible grants could not be loaded.</p>
  if (found === undefined) return <p className="cs-note">Loading earlier decisions…</p>
  if (found.refusal !== null) return <p>This cannot be granted: {showInvisible(found.refusal)}.</p>
  return <TermsForm key={`${action.id} ${action.digest}`} {...props} suggestion={found} />
}

/** The possible grants, read once for each version of the action. */
function useSuggestion({ action, onSuggest }: RememberProps): GrantSuggestion | 'failed' | undefined {
  const [found, setFound] = useState<GrantSuggestion | 'failed'>()
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked once for each version that is looked at
  useEffect(() => {
    let isGone = false
    onSuggest().then(
      (suggestion) => isGone || setFound(suggestion),
      () => isGone || setFound('failed'),
    )
    return () => {
      isGone = true
    }
  }, [action.id, action.digest])
  return found
}

function TermsForm({ action, resting, onChoose, suggestion }: RememberProps & { suggestion: GrantSuggestion }) {
  const { exact, rule } = suggestion
  const agent = showInvisible(action.agent ?? action.requestedBy.name)
  const scopes = { ...(action.sessionId === null ? {} : { session: 'In this session' }), agent: `For ${agent}, in every session` }
  const [scope, setScope] = useState<Remember['scope']>(action.sessionId === null ? 'agent' : 'session')
  const [time, setTime] = useState<keyof typeof TIMES>('PT1H')
  const [byRule, setByRule] = useState(false)
  const id = useId()
  const isRule = byRule && rule !== null
  const choose = () => {
    const where = scope === 'session' ? 'in this session' : `for ${agent}, in every session`
    const what = isRule ? `where ${showInvisible(rule.when)}` : 'with exactly these arguments'
    const words = `${showInvisible(action.tool)} runs without asking ${where}, ${what}, for ${TIMES[time]}`
    onChoose({ scope, expiresIn: time, ...(isRule ? { when: rule.when } : { exact: true }) }, words)
  }
  return (
    <>
      <fieldset className="cs-choices">
        <legend>What</legend>
        <Choice group={`${id}-what`} isChosen={!isRule} onChoose={() => setByRule(false)}>
          Exactly these arguments
          <Matched {...exact} />
        </Choice>
        {rule === null ? null : (
          <Choice group={`${id}-what`} isChosen={isRule} onChoose={() => setByRule(true)}>
            Where <code>{showInvisible(rule.when)}</code>
            <Matched {...rule} />
          </Choice>
        )}
      </fieldset>
      <fieldset className="cs-choices">
        <legend>Where</legend>
        {Object.entries(scopes).map(([each, text]) => (
          <Choice key={each} group={`${id}-scope`} isChosen={scope === each} onChoose={() => setScope(each as Remember['scope'])}>
            {text}
          </Choice>
        ))}
      </fieldset>
      <ForHowLong time={time} onChange={setTime} />
      <CardButton rest={resting} onClick={() => resting || choose()}>
        Approve and don’t ask again…
      </CardButton>
    </>
  )
}

type ChoiceProps = { group: string; isChosen: boolean; onChoose: () => void; children: ReactNode }

/** One of several choices; those of one `group` are one stop of the keyboard. */
function Choice({ group, isChosen, onChoose, children }: ChoiceProps) {
  return (
    <label>
      <input type="radio" name={group} checked={isChosen} onChange={onChoose} /> {children}
    </label>
  )
}

function ForHowLong({ time, onChange }: { time: keyof typeof TIMES; onChange: (time: keyof typeof TIMES) => void }) {
  return (
    <label className="cs-time">
      For{' '}
      <select value={time} onChange={({ currentTarget }) => onChange(currentTarget.value as keyof typeof TIMES)}>
        {Object.entries(TIMES).map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}

const Matched = ({ matched, of }: { matched: number; of: number }) => (
  <span className="cs-note"> {of === 0 ? 'nothing like it was asked before' : `would have matched ${matched} of the last ${of}`}</span>
)
