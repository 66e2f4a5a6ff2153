import type { Network } from '@countersign/toolkit'
import type { CacheTime } from './prompt-cache.ts'

/** The address of a provider and the credentials for it. */
export interface ProviderSettings {
  /** Without a trailing slash, with the version: `https://api.openai.com/v1`. */
  baseUrl?: string | undefined
  apiKey?: string | undefined
}

/** The settings of `openModel` besides the model's name: plain data that the configuration reads from the environment. */
export interface ModelSettings {
  openai?: ProviderSettings | undefined
  anthropic?: ProviderSettings | undefined
  google?: ProviderSettings | undefined
  /** `pictures`: the model accepts images in messages. Default false. */
  openaiCompatible?: (ProviderSettings & { pictures?: boolean | undefined }) | undefined
  /** Headers sent to the remote brain that is opened, for example `authorization`. */
  remote?: { headers?: Record<string, string> | undefined } | undefined
  /** Texts that are redacted from all model output. Default: the keys and headers of these settings. */
  secrets?: readonly string[] | undefined
  /** The network guard for requests. Default: one that allows no private address besides those in these settings. */
  network?: Network | undefined
  /** The longest silence: until the answer begins, and between two chunks of it. Default 300_000. */
  timeoutMs?: number | undefined
  /** How long the provider should cache a conversation. Default `5m`. */
  cache?: CacheTime | undefined
  /** The folder of a relative `scripted/<file>`. Default: the working directory. */
  scriptDirectory?: string | undefined
}

/** Reasoning models may think for minutes without sending a byte. */
export const DEFAULT_TIMEOUT_MS = 300_000

export const DEFAULT_CACHE: CacheTime = '5m'

/** Returns the secrets that are sent to models. */
export const modelSecrets = ({ openai, anthropic, google, openaiCompatible, remote }: ModelSettings): string[] => [
  ...[openai, anthropic, google, openaiCompatible].flatMap((provider) => provider?.apiKey ?? []),
  ...Object.values(remote?.headers ?? {}),
]
