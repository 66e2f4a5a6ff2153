import { z } from 'zod'

/** Any JSON value. One schema for the whole wire, so that documents can refer to it by name: it contains itself. */
export const Json = z.json()
