import type { CheckedPolicy } from '@countersign/client'
import { showInvisible } from '@countersign/react'
import { useEffect, useRef, useState } from 'react'
import { Button } from '../ui/index.ts'
import { RuleFieldset } from './rule-fields.tsx'
import { RuleMarks } from './rule-marks.tsx'
import { addRule, moveRule, readExpires, readRules, removeRule, setField } from './rule-text.ts'
import type { Remark } from './use-policy-check.ts'

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
  // The button that somebody pressed to change the rule is gone. Most come for another verdict.
  useEffect(() => {
    if (first !== null) verdict.current?.focus()
  }, [first])
  if (!rules) return <p className="muted">The form opens once the text below can be read as a policy.</p>
  const index = Math.min(chosen, rules.length - 1)
  const rule = rules[index]
  const move = (by: -1 | 1) => {
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
            ...{ rule, index, problems, warnings: checked?.warnings ?? [] },
            onField: (field, value) => onEdit(setField(text, index, field, value)),
          }}
          expires={readExpires(text)}
          verdictRef={verdict}
        />
      )}
    </div>
  )
}
