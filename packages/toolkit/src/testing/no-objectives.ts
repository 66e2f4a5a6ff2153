import type { ObjectiveStore } from '../objective-store.ts'

const none = () => Promise.reject(new Error('this test has no objectives'))

/** For sources that have nothing to do with objectives. */
export const NO_OBJECTIVES: ObjectiveStore = {
  list: none,
  find: none,
  findByKeyResult: none,
  keyResultHistory: none,
  findWritten: none,
  write: none,
}
