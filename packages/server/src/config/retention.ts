import { durationMs } from '@countersign/core'
import { z } from 'zod'
import type { retention } from '../store/index.ts'

/** An ISO 8601 duration as milliseconds; undefined leaves the store's default. */
const kept = (least: string) =>
  z
    .string()
    .transform((text, context) => {
      const ms = durationMs(text)
      if (ms === undefined) context.addIssue(`must be an ISO 8601 duration of at most P400D, for example P30D, not "${text}"`)
      else if (ms < (durationMs(least) ?? 0)) context.addIssue(`must be at least ${least}, not ${text}`)
      return ms ?? 0
    })
    .optional()

/** How long the server keeps rows that only serve a request, a sign-in or a wake-up. */
export const RetentionSection = z
  .strictObject({
    /** Answers to an `Idempotency-Key`: with a time shorter than clients' retries, a request would run twice. At least `PT1H`. Default `P1D`. */
    idempotencyKeys: kept('PT1H'),
    /** Results of MCP calls that were never fetched, and the keys of MCP calls, after the action was settled. At least `PT1H`. Default `P30D`. */
    mcpCalls: kept('PT1H'),
    /** The usage of single model calls: statistics reach back no further. At least `P1D`. Default `P400D`. */
    modelCalls: kept('P1D'),
    /** Sessions of the console after they ended. At least `PT1H`. Default `P1D`. */
    endedSessions: kept('PT1H'),
    /** Used sign-ins: with a shorter time, a sign-in could be used twice. At least `PT1H`. Default `P1D`. */
    usedSignIns: kept('PT1H'),
    /** Jobs of Postgres that failed on each attempt. At least `PT1H`. Default `P7D`. */
    failedJobs: kept('PT1H'),
    /** Deliveries to webhooks after they were delivered or given up. At least `PT1H`. Default `P30D`. */
    webhookDeliveries: kept('PT1H'),
  })
  .transform(
    ({ idempotencyKeys, mcpCalls, modelCalls, endedSessions, usedSignIns, failedJobs, webhookDeliveries }): RetentionSettings => ({
      ...(idempotencyKeys !== undefined && { answersMs: idempotencyKeys }),
      ...(mcpCalls !== undefined && { gatewayCallsMs: mcpCalls }),
      ...(modelCalls !== undefined && { modelCallsMs: modelCalls }),
      ...(endedSessions !== undefined && { endedSessionsMs: endedSessions }),
      ...(usedSignIns !== undefined && { usedSignInsMs: usedSignIns }),
      ...(failedJobs !== undefined && { failedJobsMs: failedJobs }),
      ...(webhookDeliveries !== undefined && { deliveriesMs: webhookDeliveries }),
    }),
  )

/** The times in the configuration. */
export type RetentionSettings = Partial<retention.RetentionLimits>
