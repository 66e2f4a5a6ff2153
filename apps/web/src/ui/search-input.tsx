import type { ComponentProps } from 'react'

type SearchInputProps = Omit<ComponentProps<'input'>, 'type' | 'value' | 'onChange'> & {
  typed: string
  onType: (text: string) => void
}

/** A field to search with: at most 200 characters, without completion and spell checking. */
export function SearchInput({ typed, onType, ...more }: SearchInputProps) {
  return (
    <input
      type="search"
      value={typed}
      maxLength={200}
      autoComplete="off"
      spellCheck={false}
      onChange={({ currentTarget }) => onType(currentTarget.value)}
      {...more}
    />
  )
}
