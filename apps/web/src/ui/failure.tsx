import { errorText } from '../errors.ts'

/** Shows the error of a form or a button, if there is one. @param isWide Takes a whole row of a form. */
export function Failure({ of: error, isWide = false }: { of: unknown; isWide?: boolean }) {
  if (!error) return null
  return (
    <p role="alert" className={isWide ? 'field-issue filters-wide' : 'field-issue'}>
      {errorText(error)}
    </p>
  )
}
