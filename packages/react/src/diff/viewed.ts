import { useState } from 'react'

const KEY = 'countersign-viewed'
/** The oldest marks make room for new ones. */
const MAX_MARKS = 500

/**
 * Whether this person has marked a file as viewed, and how to change that. A mark counts for one revision, and is kept in this browser; where
 * the browser forbids that, for as long as the card is open.
 * @param name Names the person, the version of the action, and the file.
 */
export function useViewed(name: string): [isViewed: boolean, mark: (isViewed: boolean) => void] {
  // The name has the version: another revision begins anew.
  const [marked, setMarked] = useState<{ name: string; isViewed: boolean }>()
  const isViewed = marked?.name === name ? marked.isViewed : readMarks().includes(name)
  const mark = (isViewed: boolean) => {
    const others = readMarks().filter((other) => other !== name)
    writeMarks(isViewed ? [...others, name] : others)
    setMarked({ name, isViewed })
  }
  return [isViewed, mark]
}

function readMarks(): string[] {
  try {
    const marks: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]')
    return Array.isArray(marks) ? marks.filter((mark) => typeof mark === 'string') : []
  } catch {
    return []
  }
}

function writeMarks(marks: readonly string[]): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(marks.slice(-MAX_MARKS)))
  } catch {
    // The state of the component has it.
  }
}
