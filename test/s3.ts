// Opens a bucket for tests. It is in memory, or on the S3-compatible store that EARSHOT_TEST_S3 specifies, such as
// http://ACCESS_KEY:SECRET_KEY@127.0.0.1:9000/earshot-test.

import { ListMultipartUploadsCommand, paginateListObjectsV2, S3Client } from '@aws-sdk/client-s3'
import { environmentOf, startS3Server } from './s3-server.ts'

type TestS3Bucket = Pick<Awaited<ReturnType<typeof startS3Server>>, 'endpoint' | 'bucket' | 'environment' | 'close'> & {
  listKeys: () => Promise<string[]>
  countUploads: () => Promise<number>
}

const openRealBucket = (text: string): TestS3Bucket => {
  const { origin, username, password, pathname } = new URL(text)
  const credentials = { accessKeyId: decodeURIComponent(username), secretAccessKey: decodeURIComponent(password) }
  const region = 'us-east-1'
  const bucket = pathname.slice(1)
  const client = new S3Client({ endpoint: origin, forcePathStyle: true, region, credentials })
  return {
    endpoint: origin,
    bucket,
    environment: environmentOf({ ...credentials, region }),
    listKeys: async () => {
      const keys: string[] = []
      for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket: bucket })) {
        keys.push(...Contents.map(({ Key = '' }) => Key))
      }
      return keys
    },
    countUploads: async () => {
      const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket }))
      return Uploads.length
    },
    close: async () => client.destroy(),
  }
}

export const openStoreBucket = async (): Promise<TestS3Bucket> => {
  const { EARSHOT_TEST_S3 } = process.env
  if (EARSHOT_TEST_S3) return openRealBucket(EARSHOT_TEST_S3)
  const { objects, uploads, ...server } = await startS3Server()
  return { ...server, listKeys: async () => [...objects.keys()], countUploads: async () => uploads.size }
}
