export { readAddress } from './address.ts'
export {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  findWebhook,
  redeliver,
  rotateSecret,
  sendTest,
  viewDelivery,
  viewWebhook,
} from './manage.ts'
export { createSender, type WebhookSender } from './sender.ts'
export { drawSecret } from './signature.ts'
