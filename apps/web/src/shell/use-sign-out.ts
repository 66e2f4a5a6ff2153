import { useServices } from '../services.tsx'

/** Signs the person out here, or everywhere, and leaves for the page of the provider or the start. */
export function useSignOut(): (everywhere: boolean) => Promise<void> {
  const { client } = useServices()
  return async (everywhere) => {
    const { endSessionUrl } = await client.signOut({ everywhere }).catch((): { endSessionUrl?: string } => ({}))
    // Reload, so that no data of the previous person stays in memory.
    location.assign(endSessionUrl ?? '/')
  }
}
