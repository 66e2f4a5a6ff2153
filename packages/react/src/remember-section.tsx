import type { Action, GrantSuggestion, Remember } from '@countersign/client'
import { showInvisible } from '@countersign/core/text'
import { useEffect, useId, useState } from 'react'
import { CardButton, type Rest } from './card-button.tsx'

const TIMES = { PT1H: '1 hour', PT8H: '8 hours', P1D: '1 day', P7D: '7 days', P30D: '30 days' } as const

type RememberProps = {
  action: Action
  onSuggest: () => Promise<GrantSuggestion>
  /** Why nothing can be approved now; empty when it can. */
  resting: Rest
  /** The person wants this granted; the card asks once more. */
  onChoose: (terms: Remember, words: string) => void
}

/** "Don't ask again": closed at first, with the literal rule and what it would have answered. Nothing here has a shortcut. */
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

function Terms({ action, onSuggest, resting, onChoose }: RememberProps) {
  const [suggestion, setSuggestion] = useState<GrantSuggestion>()
  const [failure, setFailure] = useState('')
  const scopes = [...(action.sessionId === null ? [] : (['session'] as const)), 'agent' as const]
  const [scope, setScope] = useState<Remember['scope']>(scopes[0] ?? 'agent')
  const [time, setTime] = useState<keyof typeof TIMES>('PT1H')
  const [byRule, setByRule] = useState(false)
  const id = useId()
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked once for each version that is looked at
  useEffect(() => {
    let isGone = false
    onSuggest().then(
      (found) => isGone || setSuggestion(found),
      () => isGone || setFailure('What could be granted could not be read.'),
    )
    return () => {
      isGone = true
    }
  }, [action.id, action.digest])

  if (failure !== '') return <p role="alert">{failure}</p>
  if (suggestion === undefined) return <p className="cs-note">Reading what was decided before…</p>
  if (suggestion.refusal !== null) return <p>This cannot be granted: {showInvisible(suggestion.refusal)}.</p>
  const { exact, rule } = suggestion
  const agent = showInvisible(action.agent ?? action.requestedBy.name)
  const scopeWords = { session: 'in this session', agent: `for ${agent}, in every session` }
  const isRule = byRule && rule !== null
  const what = isRule ? `where ${showInvisible(rule.when)}` : 'with exactly these arguments'
  const words = `${showInvisible(action.tool)} runs without asking ${scopeWords[scope]}, ${what}, for ${TIMES[time]}`
  const choose = () => onChoose({ scope, expiresIn: time, ...(isRule ? { when: rule.when } : { exact: true }) }, words)
  return (
    <>
      <fieldset className="cs-choices">
        <legend>What</legend>
        <label>
          <input type="radio" name={`${id}-what`} checked={!isRule} onChange={() => setByRule(false)} /> Exactly these arguments
          <Matched {...exact} />
        </label>
        {rule === null ? null : (
          <label>
            <input type="radio" name={`${id}-what`} checked={isRule} onChange={() => setByRule(true)} /> Where{' '}
            <code>{showInvisible(rule.when)}</code>
            <Matched {...rule} />
          </label>
        )}
      </fieldset>
      <fieldset className="cs-choices">
        <legend>Where</legend>
        {scopes.map((each) => (
          <label key={each}>
            <input type="radio" name={`${id}-scope`} checked={scope === each} onChange={() => setScope(each)} />{' '}
            {each === 'session' ? 'In this session' : `For ${agent}, in every session`}
          </label>
        ))}
      </fieldset>
      <label className="cs-time">
        For{' '}
        <select value={time} onChange={({ currentTarget }) => setTime(currentTarget.value as keyof typeof TIMES)}>
          {Object.entries(TIMES).map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </label>
      <CardButton rest={resting} onClick={() => resting || choose()}>
        Approve and don’t ask again…
      </CardButton>
    </>
  )
}

const Matched = ({ matched, of }: { matched: number; of: number }) => (
  <span className="cs-note"> {of === 0 ? 'nothing like it was asked before' : `would have matched ${matched} of the last ${of}`}</span>
)
