import { NumberInput } from '@countersign/react'
import { type ComponentProps, useId, useState } from 'react'
import { Options, useDisclosure } from '../ui/index.ts'
import { type EditedRule, FormField, RuleOptions } from './form-field.tsx'
import { fieldPath, PARTS_OF, type RuleField } from './rule-text.ts'
import { durationText } from './rule-words.ts'
import { remarksAt } from './use-policy-check.ts'

const FOR_PEOPLE = PARTS_OF.ask ?? []

const RISKS = [
  ['', 'As the tool says'],
  ['low', 'Low'],
  ['medium', 'Medium'],
  ['high', 'High'],
  ['critical', 'Critical'],
] as const

const DURATIONS = ['PT10S', 'PT1M', 'PT5M', 'PT15M', 'PT30M', 'PT1H', 'PT4H', 'P1D', 'P7D'] as const

/** The parts of a rule that most rules leave out: risk, and for one that asks, people and times. */
export function RuleMore({ of, expires }: { of: EditedRule; expires: string | undefined }) {
  const { rule } = of
  const used = (['risk', ...FOR_PEOPLE] as const).filter((field) => rule[field] !== '')
  const isWrong = used.some((field) => remarksAt([...of.problems, ...of.warnings], fieldPath(of.index, field)).length > 0)
  const disclosure = useDisclosure(used.length > 0 || isWrong)
  return (
    <details className="filters-wide rule-more" {...disclosure}>
      <summary>More: risk{rule.verdict === 'ask' ? ', people and times' : ''}</summary>
      <div className="filters">
        <FormField of={of} name="risk" label="Risk">
          {(props) => (
            <select {...props}>
              <RuleOptions value={rule.risk} of={RISKS} />
            </select>
          )}
        </FormField>
        {(rule.verdict === 'ask' || FOR_PEOPLE.some((field) => rule[field] !== '')) && (
          <>
            <PeopleFields of={of} />
            <TimeFields of={of} expires={expires} />
          </>
        )}
      </div>
    </details>
  )
}

function PeopleFields({ of }: { of: EditedRule }) {
  return (
    <>
      <FormField of={of} name="quorum" label="Approvals needed">
        {(props) => <NumberInput {...props} min={1} max={100} placeholder="1" />}
      </FormField>
      <FormField of={of} name="declineQuorum" label="Declines that end it">
        {(props) => <NumberInput {...props} min={1} max={100} placeholder="1" />}
      </FormField>
      <FormField of={of} name="roles" label="Roles that may vote" hint="With commas between them">
        {(props) => <ListInput {...props} separator=", " placeholder="approver" />}
      </FormField>
      <label className="check">
        <input
          type="checkbox"
          checked={of.rule.notRequester === 'true'}
          onChange={({ currentTarget }) => of.onField('notRequester', currentTarget.checked ? 'true' : '')}
        />
        Not the person who asked
      </label>
      <FormField of={of} name="declineReasons" label="Reasons for a decline to choose from" hint="One on each line" isWide>
        {(props) => <ListArea {...props} />}
      </FormField>
    </>
  )
}

function TimeFields({ of, expires }: { of: EditedRule; expires: string | undefined }) {
  const field = (name: RuleField, label: string, placeholder: string) => (
    <FormField of={of} name={name} label={label} hint={wordsOf(of.rule[name])}>
      {(props) => <DurationInput {...props} placeholder={placeholder} />}
    </FormField>
  )
  return (
    <>
      {field('expires', 'Time to decide', expires ?? 'no limit')}
      {field('extend', 'Extension, once', 'none')}
      {field('remind', 'Overdue after', 'PT5M')}
      {field('grace', 'Wait before it starts', 'none')}
      {field('escalateAfter', 'Escalate after', 'never')}
      <FormField of={of} name="escalateRoles" label="Escalate to the roles" hint="With commas between them">
        {(props) => <ListInput {...props} separator=", " placeholder="nobody" />}
      </FormField>
    </>
  )
}

/** A duration in words, where it is one. */
const wordsOf = (iso: string): string | undefined => {
  const words = durationText(iso)
  return iso === '' || words === iso ? undefined : words
}

type ListProps = Omit<ComponentProps<'input'>, 'onChange' | 'value'> & {
  value: string
  onChange: (event: { currentTarget: { value: string } }) => void
}

/** A duration as ISO 8601, with usual ones to choose from. */
function DurationInput(props: ListProps) {
  const id = useId()
  return (
    <>
      <input {...props} list={id} maxLength={40} autoComplete="off" spellCheck={false} />
      <datalist id={id}>
        <Options of={DURATIONS.map((each) => [each, durationText(each)])} />
      </datalist>
    </>
  )
}

const entriesOf = (text: string, separator: string): string =>
  text
    .split(separator.trim() || separator)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .join('\n')

/** Keeps the text of a list as it is typed, while it means the same as the value: a comma that was just typed stays. */
function useTyped(value: string, separator: string) {
  const [typed, setTyped] = useState(value)
  const shown = entriesOf(typed, separator) === value ? typed : value.split('\n').join(separator)
  return { shown, setTyped }
}

function ListInput({ value, onChange, separator, ...props }: ListProps & { separator: string }) {
  const { shown, setTyped } = useTyped(value, separator)
  return (
    <input
      {...props}
      value={shown}
      autoComplete="off"
      spellCheck={false}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value)
        onChange({ currentTarget: { value: entriesOf(currentTarget.value, separator) } })
      }}
    />
  )
}

function ListArea({ id, value, onChange, 'aria-invalid': invalid, 'aria-describedby': described }: ListProps) {
  const { shown, setTyped } = useTyped(value, '\n')
  return (
    <textarea
      id={id}
      rows={Math.max(2, shown.split('\n').length)}
      value={shown}
      aria-invalid={invalid}
      aria-describedby={described}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value)
        onChange({ currentTarget: { value: entriesOf(currentTarget.value, '\n') } })
      }}
    />
  )
}
