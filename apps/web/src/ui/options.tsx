/** The options of a select, each with its words. @param none The words of the empty option, which comes first. */
export function Options({ of, none }: { of: readonly (readonly [value: string, words: string])[]; none?: string | undefined }) {
  return (
    <>
      {none !== undefined && <option value="">{none}</option>}
      {of.map(([value, words]) => (
        <option key={value} value={value}>
          {words}
        </option>
      ))}
    </>
  )
}
