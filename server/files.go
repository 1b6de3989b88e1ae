package server

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"example.com/ginseng/kit/apperr"
	"example.com/ginseng/kit/files"
	"example.com/ginseng/kit/files/s3"
	"example.com/ginseng/kit/settings"
	"example.com/ginseng/kit/store/engines"
)

// FileSettings say where the files of records are.
type FileSettings struct {
	FilesURL    string `mapstructure:"FILES_URL" example:"file:data/files"`
	S3KeyID     string `mapstructure:"S3_ACCESS_KEY_ID" example:"AKIAIOSFODNN7EXAMPLE"`
	S3Secret    string `mapstructure:"S3_SECRET_ACCESS_KEY" example:"wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"`
	FilesShared bool   `mapstructure:"FILES_SHARED" default:"false"`
	FilesTemp   string `mapstructure:"FILES_TMP" example:"/var/tmp"`
	FilesQuota  string `mapstructure:"FILES_QUOTA" default:"1GB"` // kB, MB and GB are powers of 1,000
}

// check sets the default of FilesURL: a directory beside the embedded database.
func (f *FileSettings) check(databaseURL string, report func(name, reason string)) {
	if f.Quota() < 0 {
		report("FILES_QUOTA", "must be a size in bytes, kB, MB or GB, such as 500MB, or 0 for no limit")
	}
	path := engines.Path(databaseURL)
	if f.FilesURL == "" && path != "" {
		f.FilesURL = "file:" + filepath.Join(filepath.Dir(path), "files")
	}
	switch {
	case f.FilesURL == "":
	case strings.HasPrefix(f.FilesURL, schemeS3):
		f.checkS3(report)
	case f.dir() == "":
		report("FILES_URL", "must be file: and a directory, or s3:// and a bucket")
	case path == "" && !f.FilesShared:
		report("FILES_URL", "names a directory, but the database is MongoDB, which several instances can use: mount the directory on all "+
			"instances and set FILES_SHARED=true")
	}
}

const schemeS3 = "s3:"

var keyForm = regexp.MustCompile(`^[!-~]+$`) // visible ASCII characters

func (f *FileSettings) checkS3(report func(name, reason string)) {
	if _, err := s3.Parse(f.FilesURL); err != nil {
		report("FILES_URL", err.Error())
	}
	const reason = "is needed for the bucket in FILES_URL, and must have only visible ASCII characters"
	if !keyForm.MatchString(f.S3KeyID) {
		report("S3_ACCESS_KEY_ID", reason)
	}
	if !keyForm.MatchString(f.S3Secret) {
		report("S3_SECRET_ACCESS_KEY", reason)
	}
}

// bucket returns the bucket of FILES_URL; nil if it names none.
func (f *FileSettings) bucket() *s3.Store {
	config, err := s3.Parse(f.FilesURL)
	if err != nil {
		return nil
	}
	return s3.New(config, s3.Keys{ID: f.S3KeyID, Secret: f.S3Secret})
}

// open opens the storage of FILES_URL, in a directory with local.
func (f *FileSettings) open(local func(dir string) (*files.Local, error)) (files.Partitioned, error) {
	if bucket := f.bucket(); bucket != nil {
		return bucket, nil
	}
	l, err := local(f.dir())
	if err != nil {
		return nil, err
	}
	return l, nil
}

// dir returns the directory of FILES_URL; "" if it names none.
func (f *FileSettings) dir() string {
	path, ok := strings.CutPrefix(f.FilesURL, "file:")
	if !ok {
		return ""
	}
	return strings.TrimPrefix(path, "//")
}

// Quota returns FILES_QUOTA in bytes; a negative number if it is invalid.
func (f *FileSettings) Quota() int64 {
	n, err := humanize.ParseBytes(f.FilesQuota)
	if err != nil || n > math.MaxInt64 {
		return -1
	}
	return int64(n)
}

// invalidSetting returns the error for a setting whose value cannot be used on this machine.
func invalidSetting(name string, err error) error {
	return &settings.Invalid{Problems: []settings.Problem{{Name: name, Reason: err.Error()}}}
}

// openFiles opens the storage of files. Without FILES_URL, there is none.
func openFiles(s Settings, logger *slog.Logger) (o files.Options, err error) {
	if s.Files.FilesURL == "" {
		if s.Env == settings.Production {
			logger.Warn("files cannot be stored: FILES_URL is not set; routes with files respond 501")
		}
		return o, nil
	}
	if o.Store, err = s.Files.open(files.NewLocal); err != nil {
		return o, invalidSetting("FILES_URL", err)
	}
	if o.TempDir, err = tempDir(s.Files); err != nil {
		return o, invalidSetting("FILES_TMP", err)
	}
	o.Quota = s.Files.Quota()
	return o, nil
}

// tempDir returns the directory for uploads in progress: FILES_TMP or the directory of the system, or the directory of the files if
// the system has none that can be written, as in an image with a read-only root.
func tempDir(f FileSettings) (dir string, err error) {
	for _, dir = range []string{f.FilesTemp, os.TempDir(), f.dir()} {
		if dir == "" {
			continue
		}
		var file *os.File
		if file, err = os.CreateTemp(dir, "ginseng-test-"); err == nil {
			return dir, errors.Join(file.Close(), os.Remove(file.Name()))
		}
		if f.FilesTemp != "" {
			break
		}
	}
	return "", err
}

// checkBucket fails if the bucket of FILES_URL rejects a request because of a setting. A server that is unreachable is only logged:
// routes with files respond 503 in the meantime.
func checkBucket(ctx context.Context, s Settings, logger *slog.Logger) error {
	bucket := s.Files.bucket()
	if bucket == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, bucketTimeout)
	defer cancel()
	err := bucket.Check(ctx)
	if rejected := (*s3.Error)(nil); errors.As(err, &rejected) && rejected.IsPermanent() {
		return invalidSetting("FILES_URL", err)
	}
	if err != nil {
		logger.Warn("the bucket of files is unreachable; routes with files respond 503", "error", err)
	}
	return nil
}

const bucketTimeout = 10 * time.Second

// claimFiles connects the storage of files with the database.
func claimFiles(ctx context.Context, s Settings, f *files.Files) error {
	err := f.Claim(ctx, s.Files.FilesShared)
	if err == nil || ctx.Err() != nil || apperr.Is(err, apperr.Unavailable) {
		return err
	}
	return invalidSetting("FILES_URL", err)
}
