//! Names of services that give out keys: in front of `key` they make it a credential. Part of `names`, and of rules with
//! `preceded_by: vendors`.
//!
//! Written as in a variable: lower case, without blanks. Words whose keys are those of maps and tables (`buffer`, `cursor`) are
//! left out.

use std::sync::{Arc, OnceLock};

use super::wordlist::{List, Words, strip_end};

/// Whether a piece of a name is that of a vendor: `corp_html2pdf_key`, `ip2locationKey`, `algoliaapikey`.
pub(super) fn is_in(name: &[u8]) -> bool {
    name.split(|b| !b.is_ascii_alphanumeric()).any(|piece| {
        let owner = ["key", "token", "secret", "pat"].iter().find_map(|end| strip_end(piece, end.as_bytes()));
        let owner = owner.unwrap_or(piece);
        is_vendor(owner) || strip_end(owner, b"api").is_some_and(is_vendor)
    })
}

fn is_vendor(word: &[u8]) -> bool {
    rare().has(word) || COMMON.has(word)
}

/// The names that are rare in texts: a rule may ask for one of them.
pub(super) fn rare() -> &'static Arc<Words> {
    static WORDS: OnceLock<Arc<Words>> = OnceLock::new();
    WORDS.get_or_init(|| Arc::new(Words::new(RARE_WORDS.split_ascii_whitespace())))
}

/// Names that are short, or words of programs and prose too.
static COMMON: List = List::new(
    "
    ada aha amazon anthropic apollo audd azure bing box bunny canny circle claude coda column courier daily
    databricks dbt deel desk dhl dialpad discord docker drip drone duo dynu ebay elastic eleven enigma etsy exa
    expo fal fireworks fixer float fmfw front fulcrum gcp gemini ghost github glif gong google greenhouse groq
    guardian guru happi harness hive humanity hume hunter hyperbolic ibm impala indeed insightly ipqs jina jira
    juhe juro kagi kanban karma kimi kite lago langchain linear linode lob logz luma luno lyft magnetic meetup
    mem0 microsoft miro mite modal modulr monday mongodb mux nasa neon neptune nexus ngc nimble nmi noticeable
    novu npm okta okx omise openai oracle owm percy persona pinterest polygon prisma pusher pypi qase quip
    raven rawg readme reka replicate runway sanity segment sentry serp serverless shortcut sirv slack snowflake
    snyk splash square stripe sumo svix swell tally tmdb together twilio twist ups usps vapi vertex vyte wit
    wiz wordpress xai xata xero yelp yext ynab zoho zoom",
);

/// Clouds, APIs, tools.
const RARE_WORDS: &str =
    "
    abstractapi abuseipdb abyssale accuweather activecampaign acuity acunetix adafruit adafruitio adobe adobeio
    adyen adzuna aeroworkflow affinda africastalking afterbanks agora ahrefs airbrake airship airtable
    airvisual aiven akamai akeneo alchemy alegra aletheia algolia algoliaadmin alibaba alibabacloud alienvault
    aliyun allsports alphavantage amadeus ambee amplitude anypoint apacta api2cart apideck apiflash apifonica
    apify apilayer apimatic apimetrics apiscience apitemplate apollographql appcues appdynamics appfollow
    appointedd appoptics appsync appsynergy apptivo appveyor appwrite arize artifactory artsy asana assemblyai
    astra atera athenahealth atlas atlassian auth0 authorizenet authress autodesk autoklose autopilot avalara
    avatax avaza aviationstack axonaut aylien ayrshare azuredevops azureopenai azuresearch azurestorage
    backblaze bannerbear baremetrics baseapi basecamp baseten basetenapi beamer beebole besnappy besttime
    betterstack bigcommerce bigml billomat binance bitbar bitbucket bitcoinaverage bitfinex bitgo bitly bitmex
    bitquery bitrise bittrex blablabus blackfire blazemeter blitapp blitline blockchain blockcypher blockfrost
    blocknative blogger bluesky blynk bombbomb boostnote borgbase braintree braintrust brandfetch brave braze
    brevo brightdata browserless browserstack browshot bscscan btcpay buddyns budibase bugherd bugsnag
    buildkite buildkitev bulbul bulksms bunnycdn buttercms bybit caflou calendarific calendly calorieninja
    campayn cannyio capsulecrm captaindata carboninterface cartesia cashboard caspio cdnjs censys
    centralstationcrm cerebras cexio chainlink chargebee chartmogul chatbot chatfuel chatgpt chatwoot checio
    checkly checklyhq checkr checkvist cicero circleci clarifai clearbit clerk clevertap clickhelp clicksend
    clickup cliengo clientary clinchpad clockify clockworksms closecrm cloudconvert cloudcraft cloudelements
    cloudflare cloudfront cloudimage cloudinary cloudmersive cloudplan cloudsight cloudsmith cloverly cloze
    clustdoc cockroach cockroachlabs codacy codeclimate codecov codefresh codemagic codequiry coderabbit
    codesandbox cohere coinapi coinbase coincap coingecko coinlayer coinlib coinmarketcap collect2 comet
    cometml commercejs commercetools companyhub confluence confluent contentful contentstack conversiontools
    convertapi convertkit convex convier copyscape countrylayer coveralls craftmypdf crawlbase crowdin
    crowdstrike cryptocompare currencycloud currencyfreaks currencylayer currencyscoop currentsapi custify
    customerguru customerio cyberark d7network dailyco dandelion dareboost dashscope databox datadog datagov
    datarobot datastax dbtcloud debounce deepai deepgram deepinfra deepl deepseek delighted demio deputy
    deribit detectify detectlanguage dfuse dialogflow diffbot diggernaut digicert digitalocean discogs
    discourse disqus ditto dnscheck dnsimple dnsmadeeasy dockerhub docparser documo docusaurus docusign
    donedone doppler dotdigital dotmailer dovico dronahq droneci dropbox droplr drupal dtrack duckdns duffel
    duffelapi duply dwolla dynadot dynalist dynatrace dyspatch eagleeyenetworks easyinsight easypost
    ecostruxureit edamam edenai eightxeight elasticcloud elasticemail elasticpath elevenlabs enablex endorlabs
    enphase envoy envoyapi epidemic eraser esendex ethereum etherscan ethplorer eventbrite everhour
    exchangerate exchangerateapi exchangerates exchangeratesapi exoscale exportsdk extractorapi facebook
    faceplusplus falai fastforex fastly fastspring fauna faunadb fedex feedbin feedier fetchrss fibery figma
    fileio filestack finage financialmodelingprep findl finicity finnhub firebase firecrawl fixerio flatio
    fleetbase flexport flickr flightapi flightlabs flightstats flowflu flowise flutterwave flyio formbucket
    formcraft formio formsite foursquare frameio freemius freshbooks freshdesk freshsales freshservice friendli
    ftrack fullstory fusebill fxmarket gandi gateio geckoboard geminiapi gengo geoapify geocode geocodify
    geocodio geoipifi geonames getemail getemails getgeoapi getgist getresponse getsandbox gitbook gitea
    gitguardian gitkraken gitlab gitter gladia glassnode glean glitch gocanvas gocardless godaddy gooddata
    goodday googleai googlemaps gotify grafana graphcms graphhopper graylog greip groovehq gtmetrix guardianapi
    gumroad gyazo habitica happyscribe harvest hashicorp hasura healthchecks heatmapapi helicone hellosign
    helpcrunch helpscout hereapi heremaps heroku hetzner hiveage holidayapi holistic honeybadger honeycomb
    hootsuite hostinger hotjar html2pdf hubspot huggingface humanloop humio hunterio hybiscus hygraph
    hyperliquid hypertrack ibmcloud iconfinder iexapis iexcloud imagekit imagga imgbb imgix imgur importio
    influx influxdb infobip infracost infura instabot instagram instamojo instatus integromat intercom
    interseller intra42 intrinio invoiceninja invoiceocean ionic ionos ip2location ipapi ipdata ipgeolocation
    ipifi ipify ipinfo ipinfodb ipquality ipqualityscore ipstack jenkins jfrog jinaai jiratoken jotform jsonbin
    judgeme jumpcloud jupiterone jwplayer kaggle kakao kaleyra kanbantool karmacrm keenio kickbox kinde klaviyo
    klingai klipfolio knapsackpro kontent kraken kucoin kylas lacework lambdalabs lambdatest langfuse langsmith
    languagelayer larksuite launchdarkly leadfeeder lemlist lemonsqueezy lendflow leonardo lessannoyingcrm
    letta lexigram lightstep linemessaging linenotify linkedin linkpreview liquidweb listenbrainz liveagent
    livekit livestorm llamacloud llamaparse loadmill localazy locationiq loganalytics logdna logentries loggly
    loginradius logrocket logtail logzio lokalise looker loyverse lunchmoney macstadium madkudu magento
    magicbell mailboxlayer mailboxvalidator mailchain mailchimp mailerlite maileroo mailersend mailgun mailhog
    mailjet mailjetsms mailmodo mailosaur mailsac mailtrap mandrill mapbox mapquest mapsapi maptiler marketo
    marketstack matillion mattermost mavenlink maxmind meaningcloud mediastack meilisearch meistertask
    memsource meraki mercadopago mergeapi mesibo messagebird metaapi metabase metrilo midjourney milvus
    mindmeister minimax mintlify mistral mixcloud mixmax mixpanel mockaroo mollie mondaycom mongolab
    monkeylearn moonclerk moonpay moonshot moosend moralis mouseflow msg91 myexperiment myfreshworks
    myintervals nasdaq nasdaqdatalink navan naver nebius netcore netlify netsuite neutrino neutrinoapi newrelic
    newsapi newscatcher newsdata nexmo nftport ngrok nicereply nightfall nitro nocrm nomics northflank novita
    nozbe npmjs nuget numverify nutritionix nvidia nylas nytimes oanda octopus octopusdeploy ollama omnisend
    onedesk onelogin onepagecrm onepassword onesignal onfleet onwater oopspam opencage opencagedata
    openexchange openexchangerates openrouter opensea openuv openvpn openweather openweathermap opsgenie
    optimizely orshot osstoken overloop overpass owlbot oxylabs packagecloud paddle pagarme pagerduty pandadoc
    pandascore paperform paralleldots parsehub parseur particleio partnerstack passbase pastebin paydirtapp
    paylocity paymo paymoapp paymongo paypal paystack pdflayer pdfmonkey pdfshift peerdom peopledata
    peopledatalabs pepipost perplexity pexels phantombuster pinata pinecone pingdom pipedream pipedrive
    pivotaltracker pixabay placekey plaid planetscale planio planview planviewleankit planyo plausible pleco
    plivo podio polarsh pollsapi poloniex polygonio portainer positionstack postageapp postbacks posthog
    postman postmark powrbot prefect preplexity printful printify privateai prodpad productboard producthunt
    prospectcrm prospectio protocolsio proxycrawl proxyscrape pubnub pulumi purestake pushbullet pushbulletapi
    pushover pyowm qdrant qiniu quaderno qualaroo qualtrics qubole quickbase quickbooks quickmetrics quicknode
    rabbitmq ragic rapid7 rapidapi razorpay reachmail readwise reallysimplesystems rebrandly recaptcha
    recruitee recurly reddit refiner removebg rentman repairshopr replit replyio requestfinance resend restpack
    restpackhtmltopdfapi retell revai revampcrm ringcentral riotgames ritekit roaring robinhood rocketreach
    rockset rollbar rootly route4me rownd rubygems runpod runrunit runscope runwayml ryver saladcloud
    salesblink salescookie salesflare salesforce salesmate sambanova saucelabs scaleai scalegrid scaleway
    scalingo scalr schemaregistry scopus scrapeowl scraperapi scraperbox scrapersite scrapestack scrapfly
    scrapingant scrapingbee screenshotapi screenshotlayer scrutinizer scrutinizerci securitytrails selectpdf
    semgrep semrush sendbird sendgrid sendinblue sendpulse serpapi serper serperdev serphouse serpstack
    serveroid sherpadesk shipday shipengine shippo shipstation shodan shopify shopware shotstack shutterstock
    siftscience signable signalwire signaturit signnow signupgenius sigopt siliconflow simfin simplebase
    simplesat simplynoted simvoly sinch siteleaf skrapp skrappio skybiometry skyscanner sleeknote smartling
    smartsheet smartsheets smartystreets smooch smtp2go snapchat snipcart socialblade sodium solcast sonar
    sonarcloud sonarqube soundcloud sourcegraph sparkpost spectralops speechmatics speechtext speechtextai
    splunk splunkhec spoonacular sportradar sportsmonk sportsmonks spotify spotinst squarespace squarespaceapi
    squareup sslmate stabilityai stackhawk statista statuscake statuspage statuspal stepfun stitchdata
    stockdata stockx storecove stormboard stormglass stormpath storyblok storychief strapi strava streak stripo
    stytch sugester sumologic supabase supernotes surge surrealdb surveyanyplace surveybot surveymonkey
    surveysparrow survicate swiftype symbl synthesia taiga tailscale talkjs tallyfy taskade tatum tatumio
    tavily taxjar teamcity teamgate teamtailor teamviewer teamwork teamworkcrm teamworkdesk teamworkspaces
    technicalanalysisapi tefter telegram teletype telnyx tencent tencentcloud teradata terraform testingbot
    text2data textmagic theoddsapi thingsboard thinkific thousandeyes ticketmaster tickettailor tiingo tiktok
    timecamp timekit timescale timezoneapi tines tinify tinybird tinymce tinypng tmetric todoist togetherai
    toggl toggltrack tomorrowio tomtom topcoder tradier trakt transferwise translink travelpayouts travis
    travisci trello triggerdev truelayer truenas trufflehog trustpilot turbopuffer turso twelvedata twelvelabs
    twitch twitter tyntec typeform typesense typetalk ubidots uclassify udemy unifyid unipile unpluapi unplugg
    unsplash upcdatabase uplead uploadcare uploadthing upstage upstash uptimerobot upwave upwork urlbox urlscan
    userflow userstack vagaro vagrant vagrantcloud vantage vatlayer vbout vectara vercel verifalia verimail
    veriphone versioneye vertexai viber viewneo vimeo virusdie virustotal visualcrossing vivino vmware
    voiceflow voicegain voodoosms voyage voyageai vpnapi vuforia vultr wakatime walkscore walletconnect wandb
    wasabi watson watsonx waveapps weatherapi weatherbit weatherstack weaviate web3storage webex webflow
    webhookrelay weblate webscraper webscraping websitepulse webzio whatsapp whoxy wistia witai
    woocommerce woopra workable workato workday workos worksnaps workstack worldcoinindex worldweather wrike
    yahoo yandex yodlee youneedabudget yousign youtrack youtube zapier zapierwebhook zapsign zendesk zendeskapi
    zenkit zenkitapi zenrows zenscrape zenserp zeplin zerobounce zerossl zerotier zhipu zilliz zipapi zipbooks
    zipcodeapi zipcodebase zohocrm zonka zonkafeedback zulip zuora zuplo";
