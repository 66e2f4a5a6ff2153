import type { CheckedPolicy } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { useEffect, useRef, useState } from 'react'
import { Button } from '../ui/index.ts'
import { RuleFieldset } from './rule-fields.tsx'
import { RuleMarks } from './rule-marks.tsx'
import { addRule, moveRule, PARTS_OF, type RuleField, readExpires, readRules, removeRule, setField } from './rule-text.ts'
import type { Remark } from './use-policy-check.ts'
import { type Before, changeVerdict, leftOutOf, NOTHING } from './verdict-change.ts'

/** Says that parts are kept for the verdict before, where there are some. */
function leftOutText(before: Before | undefined, verdict: string): string | undefined {
  const parts = before && before.verdict !== verdict && PARTS_OF[before.verdict]?.some((field) => before.rule[field] !== '')
  if (!parts) return undefined
  return before.verdict === 'ask' ? 'People and times are left out, and return with Ask' : 'The reason is left out, and returns with Deny'
}

type RuleFormProps = {
  text: string
  onEdit: (text: string) => void
  /** The problems and warnings that the server found in the current text. */
  problems: readonly Remark[]
  checked: CheckedPolicy | undefined
  /** The name of the rule to begin with. */
  first: string | null
}

/** Edits one rule of the document by fields. Each change is made in the text, where everything else stays as it is, comments included. */
export default function RuleForm({ text, onEdit, problems, checked, first }: RuleFormProps) {
  const rules = readRules(text)
  const [chosen, setChosen] = useState(() => Math.max(0, rules?.findIndex(({ name }) => name === first) ?? 0))
  const verdict = useRef<HTMLSelectElement>(null)
  const [before, setBefore] = useState(NOTHING)
  // The button that somebody pressed to change the rule is gone. Most come for another verdict.
  useEffect(() => {
    if (first !== null) verdict.current?.focus()
  }, [first])
  if (!rules) return <p className="muted">The form opens once the text below can be read as a policy.</p>
  const index = Math.min(chosen, rules.length - 1)
  const rule = rules[index]
  const kept = leftOutOf(before, text)
  const edit = (changed: string, parts: typeof kept) => {
    setBefore({ text: changed, parts })
    onEdit(changed)
  }
  const onField = (field: RuleField, value: string) => {
    if (field !== 'verdict' || !rule) return edit(setField(text, index, field, value), kept)
    const changed = changeVerdict(text, { index, rule, verdict: value }, kept.get(index))
    edit(changed.text, new Map(changed.before ? [...kept, [index, changed.before]] : [...kept].filter(([at]) => at !== index)))
  }
  const move = (by: -1 | 1) => {
    // Rules are known by their places.
    setBefore(NOTHING)
    onEdit(moveRule(text, index, by))
    setChosen(index + by)
  }
  return (
    <div className="stack" data-testid="rule-form">
      <div className="row-head">
        <label className="labelled">
          Rule
          <select value={index} onChange={({ currentTarget }) => setChosen(Number(currentTarget.value))}>
            {rules.map(({ name }, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: names may be alike while somebody edits them
              <option key={at} value={at}>
                {showInvisible(name) || 'without a name'}
              </option>
            ))}
          </select>
        </label>
        <Button
          variant="outlined"
          onClick={() => {
            onEdit(addRule(text))
            setChosen(rules.length)
          }}
        >
          Add a rule
        </Button>
        {rule && (
          <>
            <Button variant="outlined" disabled={index === 0} onClick={() => move(-1)}>
              Move up
            </Button>
            <Button variant="outlined" disabled={index === rules.length - 1} onClick={() => move(1)}>
              Move down
            </Button>
            <Button
              variant="outlined"
              onClick={() => {
                setBefore(NOTHING)
                onEdit(removeRule(text, index))
                setChosen(Math.max(0, index - 1))
              }}
            >
              Remove this rule
            </Button>
          </>
        )}
      </div>
      {/* An answer about the text as it is now has the rules of this text, in its order. */}
      {rule && checked?.rules[index] && <RuleMarks reach={checked.rules[index]} />}
      {rule && (
        <RuleFieldset
          key={index}
          of={{
            ...{ rule, index, problems, warnings: checked?.warnings ?? [], onField },
            leftOut: leftOutText(kept.get(index), rule.verdict),
          }}
          expires={readExpires(text)}
          verdictRef={verdict}
        />
      )}
    </div>
  )
}
