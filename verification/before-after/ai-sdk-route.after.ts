// The route of the section *Server Setup* in docs/04-ai-sdk-ui/03-chatbot-tool-usage.mdx of the npm package ai 7.0.173,
// Copyright 2023 Vercel, Inc., Apache License 2.0. Changed: the model and fetchWeather, which the section leaves to its reader, are imported.
import {
  createUIMessageStreamResponse,
  streamText,
  tool,
  toUIMessageStream,
} from 'ai';
import { fetchWeather, model } from './supplied-ai-sdk.ts';
import { z } from 'zod';
import { gate } from '../../packages/client/src/gate/ai-sdk.ts';
import { createClient } from '../../packages/client/src/index.ts';

export async function POST(req: Request) {
  const { messages } = await req.json();

  const client = createClient({ baseUrl: process.env.COUNTERSIGN_URL ?? '', key: process.env.COUNTERSIGN_KEY });
  const result = streamText({
    model: model,
    messages,
    tools: gate(client, {
      getWeather: tool({
        description: 'Get the weather in a location',
        inputSchema: z.object({
          city: z.string(),
        }),
        execute: async ({ city }) => {
          const weather = await fetchWeather(city);
          return weather;
        },
      }),
    }, { register: true }),
  });

  return createUIMessageStreamResponse({
    stream: toUIMessageStream({ stream: result.stream }),
  });
}
