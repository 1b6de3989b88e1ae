module example.com/ginseng

go 1.26

require go.mongodb.org/mongo-driver/v2 v2.9.3 // indirect
