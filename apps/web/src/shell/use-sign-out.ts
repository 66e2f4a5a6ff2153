import { isApiError } from '@countersign/client'
import { useQueryClient } from '@tanstack/react-query'
import { forgetDrafts } from '../drafts.ts'
import { errorText } from '../errors.ts'
import { useServices } from '../services.tsx'
import { storedSignIn } from '../sign-in/stored-sign-in.ts'

/** Returns what signs out, here or everywhere, and leaves the page. It rejects where this browser stays signed in. */
export function useSignOut(): (everywhere: boolean) => Promise<void> {
  const { client, signIn } = useServices()
  const cache = useQueryClient()
  return async (everywhere) => {
    const wasStored = storedSignIn.read() !== undefined
    let next = '/'
    try {
      next = (await client.signOut({ everywhere })).endSessionUrl ?? next
    } catch (error) {
      const isSignedOut = isApiError(error) && error.code === 'unauthenticated'
      const isForgotten = wasStored && storedSignIn.read() === undefined
      if (!isSignedOut && !isForgotten) throw error
      if (!isSignedOut) {
        forgetDrafts()
        cache.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'me' })
        const signInNotice = `You are signed out in this browser only. The server did not end the sign-in: ${errorText(error)}`
        return void cache.setQueryData(['me'], { principal: null, signIn, signInNotice })
      }
    }
    // No data of the previous person stays, in the tab's storage or, as the page is loaded anew, in its memory.
    forgetDrafts()
    location.assign(next)
  }
}
