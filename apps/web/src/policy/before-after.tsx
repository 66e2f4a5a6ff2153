import type { ReplayedActions } from '@countersign/client'

type Counts = ReplayedActions['was']

/** Verdicts counted before and after, side by side, with what changes. */
export function BeforeAfter({ was, wouldBe, names }: { was: Counts; wouldBe: Counts; names: readonly [before: string, after: string] }) {
  return (
    <table className="counts before-after">
      <thead>
        <tr>
          <th scope="col">Verdict</th>
          {[...names, 'Change'].map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {(['allow', 'ask', 'deny'] as const).map((verdict) => (
          <tr key={verdict}>
            <th scope="row">{verdict}</th>
            <td>{was[verdict].toLocaleString('en')}</td>
            <td>{wouldBe[verdict].toLocaleString('en')}</td>
            <td>{changeText(wouldBe[verdict] - was[verdict])}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const changeText = (by: number): string => (by === 0 ? '–' : `${by > 0 ? '+' : '−'}${Math.abs(by).toLocaleString('en')}`)
