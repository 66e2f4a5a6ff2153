import type { Client, InboxStore, Me } from '@countersign/client'
import { createContext, use } from 'react'

/** The signed-in principal. The console uses it only to explain why a button is unavailable; the server checks permissions. */
export type Person = NonNullable<Me['principal']>

export type Services = { client: Client; inbox: InboxStore; me: Person; signIn: Me['signIn']; keepsObjectives: boolean }

const ServicesContext = createContext<Services | null>(null)

export const ServicesProvider = ServicesContext.Provider

/** The client, the inbox stream and the signed-in principal of this page. */
export function useServices(): Services {
  const services = use(ServicesContext)
  if (!services) throw new Error('useServices outside of a signed-in page')
  return services
}
