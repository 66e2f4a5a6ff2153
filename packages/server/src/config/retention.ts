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
    /** Answers to an `Idempotency-Key`: a shorter time than clients repeat requests would do a request twice. */
    idempotencyKeys: kept('PT1H'),
    /** Results of MCP calls that nobody fetched, and the keys of MCP calls, after the action was settled. */
    mcpCalls: kept('PT1H'),
    /** What single model calls counted. */
    modelCalls: kept('P1D'),
    /** Sessions of the console after they ended. */
    endedSessions: kept('PT1H'),
    /** Used sign-ins: a shorter time would let a sign-in be used twice. */
    usedSignIns: kept('PT1H'),
    /** Jobs of Postgres that failed on each attempt. */
    failedJobs: kept('PT1H'),
    /** Deliveries to webhooks after they were delivered or given up. */
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

/** The times that the configuration names. */
export type RetentionSettings = Partial<retention.RetentionLimits>
